//! Which supernodes threads go through, one after the other, and which of them wait for which.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::Scope;

use super::tree::Tree;

/// Multiply-adds of a subtree that one thread goes through.
const SMALL: f64 = 5e6;

/// No task.
const NONE: u32 = u32::MAX;

/// Parts of the elimination tree for one thread each: a small subtree, or a large supernode.
pub struct Tasks {
    /// The supernodes of each, ascending.
    supernodes: Vec<Vec<u32>>,
    /// The task of the supernode that the last of each changes first.
    parent: Vec<u32>,
    /// The tasks that have it for a parent.
    children: Vec<Vec<u32>>,
}

impl Tasks {
    /// Those of a tree.
    pub fn of(tree: &Tree) -> Tasks {
        let mut with_children: Vec<f64> = (0..tree.len()).map(|s| tree.work(s)).collect();
        for s in 0..tree.len() {
            if let Some(parent) = tree.parent(s) {
                with_children[parent] += with_children[s];
            }
        }
        let (mut task_of, mut count) = (vec![NONE; tree.len()], 0);
        let mut parent_of = Vec::new();
        for s in (0..tree.len()).rev() {
            task_of[s] = match tree.parent(s) {
                Some(parent) if with_children[parent] <= SMALL => task_of[parent],
                parent => {
                    parent_of.push(parent.map_or(NONE, |parent| task_of[parent]));
                    count += 1;
                    count - 1
                }
            };
        }
        let mut tasks = Tasks {
            supernodes: vec![Vec::new(); count as usize],
            children: vec![Vec::new(); count as usize],
            parent: parent_of,
        };
        task_of.iter().zip(0..).for_each(|(&task, s)| tasks.supernodes[task as usize].push(s));
        for (task, &parent) in (0..).zip(&tasks.parent) {
            if parent != NONE {
                tasks.children[parent as usize].push(task);
            }
        }
        tasks
    }

    /// Calls `f` for the supernodes of each, those that it waits for before it.
    pub fn each_upwards(&self, f: impl Fn(&[u32]) + Sync) {
        let waits: Vec<AtomicU32> = self.children.iter().map(|of| AtomicU32::new(of.len() as u32)).collect();
        let climb = |leaf: usize| {
            let mut task = leaf;
            loop {
                f(&self.supernodes[task]);
                task = self.parent[task] as usize;
                // The last of those that it has waited for goes on with it.
                match waits.get(task) {
                    Some(waits) if waits.fetch_sub(1, Ordering::AcqRel) == 1 => {}
                    _ => return,
                }
            }
        };
        let leaves = (0..self.children.len()).filter(|&task| self.children[task].is_empty());
        rayon::scope(|scope| {
            let climb = &climb;
            leaves.for_each(|task| scope.spawn(move |_| climb(task)));
        });
    }

    /// Calls `f` for the supernodes of each, those that wait for it after it.
    pub fn each_downwards(&self, f: impl Fn(&[u32]) + Sync) {
        let roots = (0..).zip(&self.parent).filter(|(_, parent)| **parent == NONE);
        rayon::scope(|scope| roots.for_each(|(task, _)| self.descend(task, scope, &f)));
    }

    fn descend<'s>(&'s self, task: u32, scope: &Scope<'s>, f: &'s (impl Fn(&[u32]) + Sync)) {
        scope.spawn(move |scope| {
            f(&self.supernodes[task as usize]);
            self.children[task as usize].iter().for_each(|&child| self.descend(child, scope, f));
        });
    }
}
