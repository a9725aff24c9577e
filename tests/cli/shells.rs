//! `completions` and `man`.

use std::fs;
use std::process::Command;

use warpsolve::cardiac::Model;
use warpsolve::job::{Method, Precond};
use warpsolve::precond::amg::{Coarsening, SmootherKind};

use super::Shell;

#[test]
fn every_shell_completes_commands_options_and_names() {
    let shell = Shell::new();
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (script, stderr) = shell.run(&format!("completions {name}"), 0);
        for part in ["solve", "convert", "precond", "max-iter"] {
            assert!(script.contains(part), "{name}: {part:?} is missing");
        }
        assert_eq!(stderr, "");
        // These three complete values, too.
        if ["bash", "zsh", "fish"].contains(&name) {
            let names = [Method::NAMES, Precond::NAMES, Coarsening::NAMES, SmootherKind::NAMES, Model::NAMES];
            for part in names.concat().into_iter().chain(["bsell3", "gram-schmidt", "pseudo-inverse"]) {
                assert!(script.contains(part), "{name}: {part:?} is missing");
            }
        }
    }
}

/// What bash offers behind `words`, of which the last is incomplete.
fn completed(script: &str, words: &str) -> Option<Vec<String>> {
    let count = words.split(' ').count() - 1;
    let question = format!(
        "{script}\nCOMP_WORDS=({words}); COMP_CWORD={count}; _warpsolve warpsolve \"${{COMP_WORDS[{count}]}}\" \
         \"${{COMP_WORDS[{count}-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let output = Command::new("bash").args(["--norc", "-c", &question]).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).lines().map(String::from).collect())
}

#[test]
fn bash_offers_what_fits() {
    let (script, _) = Shell::new().run("completions bash", 0);
    for (words, expected) in [
        ("warpsolve con", &["convert"][..]),
        ("warpsolve solve --sol", &["--solver"]),
        ("warpsolve solve --solver bi", &["bicgstab"]),
        ("warpsolve solve --precond a", &["auto", "amg"]),
        ("warpsolve example jac", &["jacobi-dense", "jacobi-grid"]),
        ("warpsolve completions z", &["zsh"]),
    ] {
        let Some(found) = completed(&script, words) else {
            println!("skipped: no bash");
            return;
        };
        assert_eq!(found, expected, "{words}");
    }
}

#[test]
fn there_is_a_page_for_every_command() {
    let shell = Shell::new();
    let (main, _) = shell.run("man", 0);
    assert!(main.contains(".TH warpsolve 1") && main.contains("warpsolve\\-solve(1)"), "{main}");
    assert_eq!(shell.run("man pages/man1", 0), (String::new(), String::new()));
    for command in ["", "-solve", "-convert", "-bidomain", "-bench", "-bench-compare", "-man"] {
        let page = fs::read_to_string(shell.path(&format!("pages/man1/warpsolve{command}.1"))).unwrap();
        assert!(page.contains(&format!(".TH warpsolve{command} 1")), "{page}");
    }
    let names = fs::read_dir(shell.path("pages/man1")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("help")));
    let page = fs::read_to_string(shell.path("pages/man1/warpsolve-solve.1")).unwrap();
    for part in ["\\-\\-precond", "Exit status: 0 converged"] {
        assert!(page.contains(part), "{part:?} is not in\n{page}");
    }
    assert_eq!(fs::read_to_string(shell.path("pages/man1/warpsolve.1")).unwrap(), main);
    shell.file("file", "");
    let (_, stderr) = shell.run("man file", 1);
    assert!(stderr.starts_with("error: cannot create the folder file: "), "{stderr}");
}
