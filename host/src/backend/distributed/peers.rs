//! Ranks on devices that write each other's memory: nothing between them goes through the host.
//!
//! Every rank has [windows](super::windows), memory that the others write: one for reductions, and one for
//! each matrix. A kernel that waits for what others write looks at times at a word of the host, which is set
//! where a rank fails; but a process that fails ends the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_std::Real;
use gpu_kernels::ranks::{Circle, RANK_SCALARS, reduce_ranks};

use super::exchanged::Exchanged;
use super::windows::{Arena, Windows, others, words_bytes};
use crate::backend::gpu::{Buffer, DeviceScalars, Gpu, slot, transfer};
use crate::backend::{Slot, check_slots};
use crate::comm::{Alarm, Comm, OneProcess, agree_within, all_to_all};
use crate::error::Result;
use crate::launch::switch::is_on;
use crate::launch::{Address, Launch};

/// Set to `0` it lets ranks exchange through the host where their devices could do without, for measurements.
/// It is read when a system is set up.
pub const PEERS_VARIABLE: &str = "WARPSOLVE_PEERS";

/// What each rank of a process shares when it joins the others.
struct Joining {
    device: Option<Arc<dyn Launch>>,
}

/// The other ranks, as one of them reaches them.
pub struct Peers {
    /// First, so that it goes while what its kernels look at is there.
    _windows: Windows,
    arena: Arena,
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
    /// The devices of all ranks of one process: they and their memory are there as long as kernels here may
    /// write it.
    _devices: Vec<Arc<Joining>>,
}

impl Peers {
    /// The ranks of `comm`, of which this computes on `device`; `None`, at every rank, where one computes on
    /// no device, or a device cannot write another's memory. All ranks call this.
    pub(super) fn of(comm: &Arc<dyn Comm>, device: Option<&Arc<dyn Launch>>) -> Result<Option<Arc<Peers>>> {
        match comm.one_process() {
            _ if !is_on(PEERS_VARIABLE) => Ok(None),
            Some(team) => Peers::of_threads(comm, team, device),
            None => Peers::of_processes(comm, device),
        }
    }

    fn of_threads(
        comm: &Arc<dyn Comm>,
        team: &dyn OneProcess,
        device: Option<&Arc<dyn Launch>>,
    ) -> Result<Option<Arc<Peers>>> {
        let devices = team.share(Arc::new(Joining { device: device.cloned() }))?;
        let reaches = |device: &Arc<dyn Launch>| {
            let mut others = others(&**comm, &devices).map(|(_, other)| other.device.as_ref());
            others.all(|other| other.is_some_and(|other| device.reaches(&**other)))
        };
        let device = device.filter(|device| reaches(device));
        let all = comm.all_gather(&[f64::from(u8::from(device.is_some()))])?;
        match device.filter(|_| all.iter().all(|&reaches| reaches > 0.0)) {
            None => Ok(None),
            Some(device) => {
                let arena = Arena::open(comm, device)?;
                Peers::join(comm, device, devices, arena).map(Arc::new).map(Some)
            }
        }
    }

    /// Processes that have a device of one machine each, and whether its memory reaches them shows when they
    /// import it.
    fn of_processes(comm: &Arc<dyn Comm>, device: Option<&Arc<dyn Launch>>) -> Result<Option<Arc<Peers>>> {
        let mine = device.and_then(|device| device.uuid()).map_or_else(Vec::new, |uuid| {
            // Another one after every start of every machine.
            let machine = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
            [&uuid[..], &machine].concat()
        });
        let all = all_to_all(&**comm, vec![mine; comm.size()])?;
        let uuid_and_machine: Option<Vec<_>> = all.iter().map(|of| of.split_first_chunk::<16>()).collect();
        let is_machine = uuid_and_machine.is_some_and(|of| {
            let mut uuids: Vec<_> = of.iter().map(|&(uuid, _)| uuid).collect();
            uuids.sort_unstable();
            uuids.dedup();
            uuids.len() == comm.size() && of.iter().all(|(_, machine)| *machine == of[0].1)
        });
        let Some(device) = device.filter(|_| is_machine) else { return Ok(None) };
        let Ok(arena) = Arena::open(comm, device) else { return Ok(None) };
        Peers::join(comm, device, Vec::new(), arena).map(Arc::new).map(Some)
    }

    fn join(
        comm: &Arc<dyn Comm>,
        device: &Arc<dyn Launch>,
        devices: Vec<Arc<Joining>>,
        arena: Arena,
    ) -> Result<Peers> {
        let size = comm.size();
        // For scalars of all ranks, in odd reductions and in even ones.
        let windows = arena.windows(words_bytes(size) + 2 * size * RANK_SCALARS * size_of::<f64>())?;
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
        if let Some(team) = comm.one_process() {
            team.on_failure(&alarm);
        }
        let addresses = |offset: usize| -> Vec<u64> {
            windows.addresses().map(|address| address + offset as Address).collect()
        };
        let words = Buffer::from_slice(device, &addresses(0))?;
        let places = Buffer::from_slice(device, &addresses(words_bytes(size)))?;
        let (comm, device) = (comm.clone(), device.clone());
        Ok(Peers {
            _windows: windows,
            arena,
            comm,
            device,
            failed,
            _alarm: alarm,
            epoch,
            counts,
            words,
            places,
            _devices: devices,
        })
    }

    /// How they talk to each other through the host.
    pub(super) fn comm(&self) -> &dyn Comm {
        &*self.comm
    }

    /// A window of so many bytes behind a word for each rank, and those of the others. All ranks call this.
    pub(super) fn windows(&self, bytes: usize) -> Result<Windows> {
        self.arena.windows(words_bytes(self.comm.size()) + bytes)
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
