//! Ranks on devices that write each other's memory: nothing between them goes through the host.
//!
//! Every rank has windows, memory that the others write: one for reductions, and one for each matrix. A
//! kernel that waits for what others write looks at times at a word of the host, which is set where a rank
//! fails.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_std::Real;
use gpu_kernels::ranks::{Circle, RANK_SCALARS, reduce_ranks};

use super::exchanged::Exchanged;
use crate::backend::gpu::{Buffer, DeviceScalars, Gpu, slot, transfer};
use crate::backend::{Slot, check_slots};
use crate::comm::{Alarm, Comm, OneProcess, agree_within};
use crate::error::{Error, Result};
use crate::launch::switch::is_on;
use crate::launch::{Address, Launch};

/// Set to `0` it lets ranks exchange through the host where their devices could do without, for measurements.
/// It is read when a system is set up.
pub const PEERS_VARIABLE: &str = "WARPSOLVE_PEERS";

/// Bytes of a word of how far a rank has come, for all ranks, before what is exchanged.
fn words_bytes(size: usize) -> usize {
    (size * size_of::<u32>()).next_multiple_of(256)
}

/// What each rank shares when it joins the others.
struct Joining {
    device: Option<Arc<dyn Launch>>,
}

/// The other ranks, as one of them reaches them.
pub struct Peers {
    /// First, so that it goes while what its kernels look at is there.
    _windows: Windows,
    comm: Arc<dyn Comm>,
    device: Arc<dyn Launch>,
    /// The word that kernels look at, and what sets it.
    failed: Arc<Buffer>,
    _alarm: Arc<Alarm>,
    /// Reductions so far, as they are counted for the ranks and for the host; exchanges, and their bytes.
    epoch: Arc<Buffer>,
    counts: Arc<Buffer>,
    /// The addresses of words and places of all ranks.
    words: Arc<Buffer>,
    places: Arc<Buffer>,
    /// The devices of all ranks: they and their memory are there as long as kernels here may write it.
    _devices: Vec<Arc<Joining>>,
}

impl Peers {
    /// The ranks of `comm`, of which this computes on `device`; `None`, at every rank, where one computes on
    /// no device, or a device cannot write another's memory. All ranks call this.
    pub(super) fn of(comm: &Arc<dyn Comm>, device: Option<&Arc<dyn Launch>>) -> Result<Option<Arc<Peers>>> {
        let Some(team) = comm.one_process().filter(|_| is_on(PEERS_VARIABLE)) else {
            return Ok(None);
        };
        let devices = team.share(Arc::new(Joining { device: device.cloned() }))?;
        let reaches = |device: &Arc<dyn Launch>| {
            let others = devices.iter().enumerate().filter(|&(rank, _)| rank != comm.rank());
            let mut others = others.map(|(_, other)| other.device.as_ref());
            others.all(|other| other.is_some_and(|other| device.reaches(&**other)))
        };
        let device = device.filter(|device| reaches(device));
        let all = comm.all_gather(&[f64::from(u8::from(device.is_some()))])?;
        match device.filter(|_| all.iter().all(|&reaches| reaches > 0.0)) {
            None => Ok(None),
            Some(device) => Peers::join(comm, team, device, devices).map(Arc::new).map(Some),
        }
    }

    fn join(
        comm: &Arc<dyn Comm>,
        team: &dyn OneProcess,
        device: &Arc<dyn Launch>,
        devices: Vec<Arc<Joining>>,
    ) -> Result<Peers> {
        let size = comm.size();
        let own = || {
            let failed = Buffer::host_visible(device, size_of::<u32>())?;
            // SAFETY: host-visible memory of this size, which no kernel uses yet.
            unsafe { (failed.address as *mut u32).write(0) };
            let epoch = Buffer::zeroed(device, size_of::<u32>())?;
            let counts = Buffer::zeroed(device, COUNTS * size_of::<u64>())?;
            Ok([failed, epoch, counts])
        };
        let [failed, epoch, counts] = agree_within(&**comm, own())?;
        let word = Arc::downgrade(&failed);
        let alarm: Arc<Alarm> = Arc::new(move || {
            if let Some(word) = word.upgrade() {
                // SAFETY: host-visible memory of this size, which is only ever read and written as a whole.
                unsafe { AtomicU32::from_ptr(word.address as *mut u32) }.store(1, Ordering::Release);
            }
        });
        team.on_failure(&alarm);
        let bytes = words_bytes(size) + 2 * size * RANK_SCALARS * size_of::<f64>();
        let windows = Windows::open(comm, device, bytes)?;
        let addresses = |offset: usize| -> Vec<u64> {
            windows.addresses().map(|address| address + offset as Address).collect()
        };
        let words = Buffer::from_slice(device, &addresses(0))?;
        let places = Buffer::from_slice(device, &addresses(words_bytes(size)))?;
        let (comm, device) = (comm.clone(), device.clone());
        let (_alarm, _devices) = (alarm, devices);
        Ok(Peers { _windows: windows, comm, device, failed, _alarm, epoch, counts, words, places, _devices })
    }

    /// How they talk to each other through the host.
    pub(super) fn comm(&self) -> &dyn Comm {
        &*self.comm
    }

    /// A window of so many bytes behind a word for each rank, and those of the others. All ranks call this.
    pub(super) fn windows(&self, bytes: usize) -> Result<Windows> {
        Windows::open(&self.comm, &self.device, words_bytes(self.comm.size()) + bytes)
    }

    /// What kernels count exchanges and their bytes in.
    pub(super) fn exchange_counts(&self) -> *mut u64 {
        (self.counts.address as *mut u64).wrapping_add(1)
    }

    /// What kernels that wait look at.
    pub(super) fn failed(&self) -> *const u32 {
        self.failed.address as *const u32
    }

    /// What was exchanged so far. Waits for the device.
    pub(super) fn exchanged(&self) -> Result<Exchanged> {
        let mut counts = [0_u64; COUNTS];
        // SAFETY: the buffer has this size.
        unsafe { transfer::download(&*self.device, &mut counts, self.counts.address)? };
        let [reductions, exchanges, bytes] = counts;
        Ok(Exchanged { exchanges, bytes, reductions })
    }

    fn circle(&self) -> Circle {
        Circle {
            rank: self.comm.rank() as u32,
            size: self.comm.size() as u32,
            words: self.words.address as *const u64,
            places: self.places.address as *const u64,
            epoch: self.epoch.address as *mut u32,
            count: self.counts.address as *mut u64,
            failed: self.failed(),
        }
    }

    /// Replaces scalars by what they are over ranks, and adds that to those from `total` on.
    pub(super) fn reduce<T: Real>(&self, gpu: &Gpu, s: &DeviceScalars<T>, over: OverRanks) -> Result<()> {
        let OverRanks { first, count, total, is_max } = over;
        check_slots("a reduction over ranks", s.len(), first, count)?;
        if let Some(total) = total {
            check_slots("a reduction over ranks", s.len(), total, count)?;
        }
        for k in (0..count).step_by(RANK_SCALARS) {
            let kernel = reduce_ranks::<T> {
                count: (count - k).min(RANK_SCALARS) as u32,
                values: slot(s, first.offset(k)),
                total: total.map_or(std::ptr::null_mut(), |total| slot(s, total.offset(k))),
                is_max: is_max.into(),
                circle: self.circle(),
                guard: gpu.guard(),
            };
            // SAFETY: the slots are checked above, and the windows have room for so many scalars of each
            // rank.
            unsafe { gpu.launch_block(&kernel)? };
        }
        Ok(())
    }
}

/// Reductions, exchanges, bytes.
const COUNTS: usize = 3;

/// What becomes of scalars that each rank has.
#[derive(Debug, Clone, Copy)]
pub struct OverRanks {
    /// The first of them, which is replaced.
    pub first: Slot,
    /// How many there are.
    pub count: usize,
    /// The first of those that the result is added to.
    pub total: Option<Slot>,
    /// Whether the result is the maximum, NaN where any is; otherwise it is the sum.
    pub is_max: bool,
}

/// Memory of this rank that the others write, and theirs.
pub(super) struct Windows {
    comm: Arc<dyn Comm>,
    device: Arc<dyn Launch>,
    /// Not given back where a rank has failed: another may still write it.
    own: ManuallyDrop<Arc<Buffer>>,
    /// Where they are and how large, by rank.
    all: Vec<(Address, usize)>,
}

impl Windows {
    fn open(comm: &Arc<dyn Comm>, device: &Arc<dyn Launch>, bytes: usize) -> Result<Windows> {
        let own = agree_within(&**comm, Buffer::shared(device, bytes))?;
        let team = comm.one_process().ok_or_else(|| Error::Option("ranks share no memory".into()))?;
        let all = team.share(Arc::new((own.address, bytes)))?.iter().map(|window| **window).collect();
        let windows =
            Windows { comm: comm.clone(), device: device.clone(), own: ManuallyDrop::new(own), all };
        // SAFETY: ranks give their windows back when nobody waits for what comes through them any more.
        windows.others().for_each(|(address, bytes)| unsafe { windows.device.admit(address, bytes) });
        Ok(windows)
    }

    fn others(&self) -> impl Iterator<Item = (Address, usize)> {
        let others = self.all.iter().enumerate().filter(|&(rank, _)| rank != self.comm.rank());
        others.map(|(_, &window)| window)
    }

    /// Where the windows are, by rank.
    pub(super) fn addresses(&self) -> impl Iterator<Item = Address> {
        self.all.iter().map(|&(address, _)| address)
    }

    /// Where that of a rank is.
    pub(super) fn of(&self, rank: usize) -> Address {
        self.all[rank].0
    }

    /// Where what is exchanged begins in the window of a rank.
    pub(super) fn places_of(&self, rank: usize) -> Address {
        self.of(rank) + words_bytes(self.comm.size()) as Address
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        // What this rank puts, its readers wait for; what it waits for has come when its device is idle.
        let is_idle = self.device.synchronize().is_ok();
        for (address, _) in self.others() {
            self.device.dismiss(address);
        }
        if is_idle && self.comm.one_process().is_some_and(|team| !team.has_failed()) {
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(&mut self.own) };
        }
    }
}
