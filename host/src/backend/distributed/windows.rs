//! Memory of ranks that the devices of others write.
//!
//! A rank has regions of it, which the others know: those of one process tell each other where they are,
//! those of several processes of one machine import them. Windows are parts of regions. So a window is had
//! without the driver, which may wait for kernels, and they for those of a rank that waits for the driver.

use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::backend::gpu::Buffer;
use crate::comm::{Comm, OneProcess, agree_within, all_to_all};
use crate::error::{Error, Result};
use crate::launch::{Address, Launch};

/// Bytes of the first region; others are twice as large as the last.
const FIRST_REGION: usize = 8 << 20;
/// What windows begin at a multiple of.
const ALIGNMENT: usize = 256;

/// The regions of this rank, and those of the others.
pub(super) struct Arena {
    comm: Arc<dyn Comm>,
    device: Arc<dyn Launch>,
    regions: Mutex<Vec<Arc<Region>>>,
}

/// Memory of this rank that the others write, and theirs.
struct Region {
    comm: Arc<dyn Comm>,
    device: Arc<dyn Launch>,
    /// Not given back where a rank has failed: another may still write it.
    own: ManuallyDrop<Arc<Buffer>>,
    /// Where they are for this rank's kernels, by rank.
    all: Vec<Address>,
    /// What nobody has of the own one, ascending.
    free: Mutex<Vec<Range<usize>>>,
}

/// A part of the region of this rank.
struct Own {
    region: Arc<Region>,
    range: Range<usize>,
}

/// A part of a region of each rank.
pub(super) struct Windows {
    _own: Own,
    /// Where they are for this rank's kernels, by rank.
    all: Vec<Address>,
}

fn lock<U>(mutex: &Mutex<U>) -> MutexGuard<'_, U> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of a word of how far a rank has come, for all ranks, before what is exchanged.
pub(super) fn words_bytes(size: usize) -> usize {
    (size * size_of::<u32>()).next_multiple_of(ALIGNMENT)
}

/// What there is of each rank but this one, with its number.
pub(super) fn others<'a, U>(comm: &dyn Comm, all: &'a [U]) -> impl Iterator<Item = (usize, &'a U)> {
    let rank = comm.rank();
    all.iter().enumerate().filter(move |&(other, _)| other != rank)
}

impl Arena {
    /// All ranks call this.
    pub fn open(comm: &Arc<dyn Comm>, device: &Arc<dyn Launch>) -> Result<Arena> {
        let regions = vec![Arc::new(Region::open(comm, device, FIRST_REGION)?)];
        Ok(Arena { comm: comm.clone(), device: device.clone(), regions: Mutex::new(regions) })
    }

    /// Windows of so many bytes, set to zero. All ranks call this, each for as many bytes as it needs.
    pub fn windows(&self, bytes: usize) -> Result<Windows> {
        let comm = &*self.comm;
        loop {
            let mine = agree_within(comm, self.own(bytes))?;
            // Which region, and where in it; less than nothing where there is no room.
            let place = mine.as_ref().map_or([-1.0, 0.0], |(number, own)| [*number as f64, own.start()]);
            let places = comm.all_gather(&[place[0], place[1], bytes as f64])?;
            let places: Vec<&[f64]> = places.chunks(3).collect();
            if let (Some((_, own)), true) = (mine, places.iter().all(|place| place[0] >= 0.0)) {
                let regions = lock(&self.regions);
                let address = |(rank, place): (usize, &&[f64])| {
                    regions[place[0] as usize].all[rank] + place[1] as Address
                };
                let all = places.iter().enumerate().map(address).collect();
                return Ok(Windows { _own: own, all });
            }
            let most = places.iter().fold(0.0, |most: f64, place| most.max(place[2])) as usize;
            self.grow(most)?;
        }
    }

    /// A part of a region, set to zero, and the number of the region; `None` where there is no room.
    fn own(&self, bytes: usize) -> Result<Option<(usize, Own)>> {
        let taken = lock(&self.regions).iter().enumerate().find_map(|(number, region)| {
            let range = region.take(bytes)?;
            Some((number, Own { region: region.clone(), range }))
        });
        if let Some((_, Own { region, range })) = &taken {
            region.clear(range)?;
        }
        Ok(taken)
    }

    /// Another region with room for so many bytes. All ranks call this.
    fn grow(&self, bytes: usize) -> Result<()> {
        // No device waits for another while the driver may wait for them.
        agree_within(&*self.comm, self.device.synchronize())?;
        let last = lock(&self.regions).last().map_or(0, |region| region.own.bytes() as usize);
        let region = Region::open(&self.comm, &self.device, bytes.next_multiple_of(ALIGNMENT).max(2 * last))?;
        lock(&self.regions).push(Arc::new(region));
        Ok(())
    }
}

impl Region {
    fn open(comm: &Arc<dyn Comm>, device: &Arc<dyn Launch>, bytes: usize) -> Result<Region> {
        let (own, all) = match comm.one_process() {
            Some(team) => Region::told(&**comm, team, device, bytes)?,
            None => Region::imported(&**comm, device, bytes)?,
        };
        let (comm, device, own) = (comm.clone(), device.clone(), ManuallyDrop::new(own));
        let free = Mutex::new(std::iter::once(0..bytes).collect());
        Ok(Region { comm, device, own, all, free })
    }

    /// Of ranks that tell each other where their memory is.
    fn told(
        comm: &dyn Comm,
        team: &dyn OneProcess,
        device: &Arc<dyn Launch>,
        bytes: usize,
    ) -> Result<(Arc<Buffer>, Vec<Address>)> {
        let own = agree_within(comm, Buffer::shared(device, bytes))?;
        let all = team.share(Arc::new((own.address, bytes)))?;
        for (_, window) in others(comm, &all) {
            let (address, bytes) = **window;
            // SAFETY: ranks give their windows back when nobody waits for what comes through them any more.
            unsafe { device.admit(address, bytes) };
        }
        Ok((own, all.iter().map(|window| window.0).collect()))
    }

    /// Of processes that import the memory of the others.
    fn imported(
        comm: &dyn Comm,
        device: &Arc<dyn Launch>,
        bytes: usize,
    ) -> Result<(Arc<Buffer>, Vec<Address>)> {
        let (own, handle) = agree_within(comm, Buffer::exported(device, bytes))?;
        let told = [&handle[..], &(bytes as u64).to_ne_bytes()].concat();
        let told = all_to_all(comm, vec![told; comm.size()])?;
        let import = |message: &Vec<u8>| {
            let (handle, bytes) = message.split_first_chunk().ok_or_else(no_message)?;
            let bytes = u64::from_ne_bytes(bytes.try_into().map_err(|_| no_message())?);
            // SAFETY: as of windows of one process.
            unsafe { device.import(handle, bytes as usize) }
        };
        let mut all = vec![own.address; comm.size()];
        let mut imported = Ok(());
        for (rank, message) in others(comm, &told) {
            match import(message) {
                Ok(address) => all[rank] = address,
                Err(error) => imported = imported.and(Err(error)),
            }
        }
        agree_within(comm, imported).inspect_err(|_| {
            let of_others = others(comm, &all).filter(|&(_, &address)| address != own.address);
            of_others.for_each(|(_, &address)| device.close(address));
        })?;
        Ok((own, all))
    }

    /// So many bytes, if there are.
    fn take(&self, bytes: usize) -> Option<Range<usize>> {
        let bytes = bytes.next_multiple_of(ALIGNMENT);
        let mut free = lock(&self.free);
        let k = free.iter().position(|range| range.len() >= bytes)?;
        let taken = free[k].start..free[k].start + bytes;
        free[k].start = taken.end;
        if free[k].is_empty() {
            free.remove(k);
        }
        Some(taken)
    }

    fn give_back(&self, range: &Range<usize>) {
        let mut free = lock(&self.free);
        let k = free.partition_point(|other| other.start < range.start);
        free.insert(k, range.clone());
        if k + 1 < free.len() && free[k].end == free[k + 1].start {
            free[k].end = free.remove(k + 1).end;
        }
        if k > 0 && free[k - 1].end == free[k].start {
            free[k - 1].end = free.remove(k).end;
        }
    }

    /// Sets a part that nobody writes to zero, and waits for that.
    fn clear(&self, range: &Range<usize>) -> Result<()> {
        // SAFETY: a part of the own region.
        unsafe { self.device.zero(self.own.address + range.start as Address, range.len())? };
        self.device.synchronize()
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let is_idle = self.device.synchronize().is_ok();
        for (_, &address) in others(&*self.comm, &self.all) {
            match self.comm.one_process() {
                Some(_) => self.device.dismiss(address),
                None => self.device.close(address),
            }
        }
        if is_idle && self.comm.one_process().is_none_or(|team| !team.has_failed()) {
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(&mut self.own) };
        }
    }
}

impl Windows {
    /// Where that of a rank is.
    pub fn of(&self, rank: usize) -> Address {
        self.all[rank]
    }

    /// Where they are, by rank.
    pub fn addresses(&self) -> impl Iterator<Item = Address> {
        self.all.iter().copied()
    }

    /// Where what is exchanged begins in the window of a rank.
    pub fn places_of(&self, rank: usize) -> Address {
        self.of(rank) + words_bytes(self.all.len()) as Address
    }
}

impl Own {
    /// Where it begins in the region.
    fn start(&self) -> f64 {
        self.range.start as f64
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // What this rank puts, its readers wait for; what it waits for has come when its device is idle.
        let is_idle = self.region.device.synchronize().is_ok();
        let has_failed = || self.region.comm.one_process().is_some_and(|team| team.has_failed());
        if is_idle && !has_failed() {
            self.region.give_back(&self.range);
        }
    }
}

fn no_message() -> Error {
    Error::Option("ranks tell each other other things: a mistake of this library".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::Team;
    use crate::launch::sim::Sim;

    #[test]
    fn windows_are_parts_of_regions_that_grow() {
        let on_rank = |team: Team| {
            let (rank, comm) = (team.rank(), Arc::new(team) as Arc<dyn Comm>);
            let device = Arc::new(Sim::strict()) as Arc<dyn Launch>;
            let arena = Arena::open(&comm, &device).unwrap();
            let first = arena.windows(100 + 1000 * rank).unwrap();
            let second = arena.windows(700).unwrap();
            assert_ne!(first.of(rank), second.of(rank));
            // Too large for what one rank has.
            let large = arena.windows(if rank == 1 { FIRST_REGION + 5 } else { 0 }).unwrap();
            assert_eq!(lock(&arena.regions).len(), 2);
            for windows in [&first, &second, &large] {
                let all: Vec<f64> = windows.addresses().map(|address| address as f64).collect();
                let told = comm.all_gather(&[windows.of(rank) as f64]).unwrap();
                assert_eq!(all, told);
            }
            // What was given back is had again.
            let before = first.of(rank);
            drop((second, first));
            assert_eq!(arena.windows(100).unwrap().of(rank), before);
            comm.all_gather(&[]).unwrap();
        };
        std::thread::scope(|scope| {
            Team::new(3).into_iter().for_each(|team| drop(scope.spawn(|| on_rank(team))));
        });
    }

    #[test]
    fn parts_that_are_given_back_are_joined() {
        let on_rank = |team: Team| {
            let (comm, device) =
                (Arc::new(team) as Arc<dyn Comm>, Arc::new(Sim::strict()) as Arc<dyn Launch>);
            let region = Region::open(&comm, &device, 1024).unwrap();
            let parts: Vec<_> = (0..4).map(|_| region.take(200).unwrap()).collect();
            assert!(region.take(1).is_none());
            for k in [2, 0, 3, 1] {
                region.give_back(&parts[k]);
            }
            assert!(lock(&region.free).iter().cloned().eq(std::iter::once(0..1024)));
        };
        Team::new(1).into_iter().for_each(on_rank);
    }
}
