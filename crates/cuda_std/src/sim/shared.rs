//! The shared memory of a block.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{RefCell, RefMut};

/// What fresh shared memory is filled with.
const POISON: u8 = 0xff;
/// What faults call dynamic shared memory.
const DYNAMIC: &str = "dynamic shared memory";
/// Alignment of dynamic shared memory.
const ALIGNMENT: usize = 128;

/// A checked shared array of the block.
#[derive(Debug, Clone, Copy)]
pub struct SharedBase {
    /// The place of the block.
    pub(super) place: usize,
    /// Its number in the block.
    pub(super) array: usize,
    /// Elements.
    pub(super) length: usize,
}

/// One checked array: bytes, none until written.
struct Array {
    name: &'static str,
    bytes: Vec<Option<u8>>,
}

/// Memory that kernels reach through plain pointers.
struct Variable {
    name: &'static str,
    address: *mut u8,
    layout: Layout,
}

impl Variable {
    fn new(name: &'static str, layout: Layout) -> Self {
        // SAFETY: the size is not zero.
        let address = unsafe { alloc(layout) };
        if address.is_null() {
            handle_alloc_error(layout);
        }
        let variable = Self { name, address, layout };
        variable.clear();
        variable
    }

    fn clear(&self) {
        // SAFETY: allocated with this size, and no thread of a block runs.
        unsafe { self.address.write_bytes(POISON, self.layout.size()) }
    }

    fn contains(&self, address: u64) -> bool {
        let start = self.address as u64;
        (start..start + self.layout.size() as u64).contains(&address)
    }
}

impl Drop for Variable {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.address, self.layout) }
    }
}

/// All shared memory of the block that runs.
pub(super) struct SharedMemory {
    arrays: RefCell<Vec<Array>>,
    variables: RefCell<Vec<Variable>>,
    dynamic: Variable,
    dynamic_bytes: u32,
}

impl SharedMemory {
    pub fn new(dynamic_bytes: u32) -> Self {
        let layout = Layout::from_size_align((dynamic_bytes as usize).max(1), ALIGNMENT);
        let dynamic = Variable::new(DYNAMIC, layout.expect("fits in memory"));
        Self { arrays: RefCell::default(), variables: RefCell::default(), dynamic, dynamic_bytes }
    }

    /// The number of the array of that name for so many elements of `size` bytes, made if there is none.
    pub fn array(&self, name: &'static str, length: usize, size: usize) -> usize {
        let (mut arrays, bytes) = (self.arrays.borrow_mut(), length * size);
        if let Some(number) = arrays.iter().position(|a| a.name == name && a.bytes.len() == bytes) {
            return number;
        }
        arrays.push(Array { name, bytes: vec![None; bytes] });
        arrays.len() - 1
    }

    /// The number of dynamic shared memory as an array of elements of `size` bytes, and how many it has.
    pub fn dynamic_array(&self, size: usize) -> (usize, usize) {
        let bytes = self.dynamic_bytes as usize;
        (self.array(DYNAMIC, bytes, 1), bytes / size)
    }

    pub fn name(&self, base: SharedBase) -> &'static str {
        self.arrays.borrow()[base.array].name
    }

    pub fn bytes(&self, base: SharedBase) -> RefMut<'_, [Option<u8>]> {
        RefMut::map(self.arrays.borrow_mut(), |arrays| arrays[base.array].bytes.as_mut_slice())
    }

    /// The variable of that name, made if there is none.
    pub fn variable(&self, name: &'static str, layout: Layout) -> *mut u8 {
        let mut variables = self.variables.borrow_mut();
        if let Some(known) = variables.iter().find(|v| v.name == name) {
            return known.address;
        }
        variables.push(Variable::new(name, layout));
        variables[variables.len() - 1].address
    }

    pub fn dynamic(&self) -> *mut u8 {
        self.dynamic.address
    }

    pub fn dynamic_bytes(&self) -> u32 {
        self.dynamic_bytes
    }

    /// Bytes of all variables and arrays so far, and of dynamic shared memory.
    pub fn total_bytes(&self) -> u32 {
        let arrays: usize =
            self.arrays.borrow().iter().filter(|a| a.name != DYNAMIC).map(|a| a.bytes.len()).sum();
        let variables: usize = self.variables.borrow().iter().map(|v| v.layout.size()).sum();
        (arrays + variables) as u32 + self.dynamic_bytes
    }

    /// Whether a plain pointer points into it.
    pub fn contains(&self, address: u64) -> bool {
        self.dynamic.contains(address) || self.variables.borrow().iter().any(|v| v.contains(address))
    }

    /// Forgets what the block before wrote.
    pub fn clear(&self) {
        self.arrays.borrow_mut().iter_mut().for_each(|array| array.bytes.fill(None));
        self.variables.borrow().iter().for_each(Variable::clear);
        self.dynamic.clear();
    }
}
