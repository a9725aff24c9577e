//! Lines that people read are at most 110 columns wide: of the documentation, and of comments in the sources.
//!
//! What cannot be broken is left out: tables, code and what programs print in the documentation, tables and
//! addresses in comments.

use std::fs;
use std::path::{Path, PathBuf};

const WIDTH: usize = 110;

/// Files below `folder` that end in `.extension`, except for what is built.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                files(&path, extension, found);
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

fn is_wide(line: &str) -> bool {
    line.chars().count() > WIDTH
}

/// Lines of a page that are too wide, counted from 1.
fn wide_lines_of_page(text: &str) -> Vec<usize> {
    let mut code = false;
    let mut wide = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        if !code && !fence && !line.starts_with('|') && is_wide(line) {
            wide.push(k + 1);
        }
    }
    wide
}

/// Comments on lines of their own that are too wide, counted from 1.
fn wide_comments(text: &str) -> Vec<usize> {
    let mut code = false;
    let mut wide = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            code = false;
            continue;
        };
        let comment = comment.trim_start_matches(['/', '!']).trim_start();
        code ^= comment.starts_with("```");
        if !code && !comment.starts_with('|') && !comment.contains("://") && is_wide(line) {
            wide.push(k + 1);
        }
    }
    wide
}

/// Fails with the files that have wide lines, those with most of them first.
fn check(extension: &str, least_files: usize, wide_lines: fn(&str) -> Vec<usize>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    files(root, extension, &mut all);
    assert!(all.len() >= least_files, "only {} files *.{extension} were found", all.len());
    let mut faults = Vec::new();
    let name = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
    for path in &all {
        let wide = wide_lines(&fs::read_to_string(path).unwrap());
        if !wide.is_empty() {
            faults.push((wide.len(), name(path), wide));
        }
    }
    faults.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
    let lines: Vec<String> =
        faults.iter().map(|(count, path, lines)| format!("{count:4} {path}: {lines:?}")).collect();
    assert!(faults.is_empty(), "lines wider than {WIDTH} columns:\n{}", lines.join("\n"));
}

#[test]
fn pages_are_not_too_wide() {
    check("md", 20, wide_lines_of_page);
}

#[test]
fn comments_are_not_too_wide() {
    check("rs", 200, wide_comments);
}

#[test]
fn wide_lines_are_found() {
    let words = "word ".repeat(30);
    assert_eq!(
        wide_lines_of_page(&format!("{words}\n| {words}|\n```\n{words}\n```\nshort\n- {words}")),
        [1, 7]
    );
    assert_eq!(
        wide_comments(&format!("    // {words}\n/// {words}\n//! | {words}|\nlet a = 1;\n// short\n{words}")),
        [1, 2]
    );
    assert_eq!(
        wide_comments(&format!(
            "//! ```text\n//! {words}\n//! ```\n//! {words}\n//! ```\nlet a = 1;\n// {words}"
        )),
        [4, 7]
    );
}
