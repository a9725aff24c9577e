//! What one of several ranks has of the nodes of a mesh, and of its cells.
//!
//! A rank assembles on the elements around its own nodes. So it looks at some nodes of others too, whose rows
//! are not complete there, and which it needs as columns. Vectors of a simulation have the elements of own
//! nodes or cells, in the order of the whole mesh.

use std::sync::Arc;

use warpsolve_host::comm::{self, Comm, Numbering, Partition, Piece};
use warpsolve_host::error::Result;
use warpsolve_host::matrix::Csr;
use warpsolve_host::precond::NullSpace;

/// What the rows of a matrix, or the elements of a vector, belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknowns {
    /// The cells, one each.
    Cells,
    /// The nodes, so many each: 1 or 2.
    Nodes(usize),
}

impl Unknowns {
    /// Of a node or a cell.
    pub fn each(self) -> usize {
        match self {
            Unknowns::Cells => 1,
            Unknowns::Nodes(each) => each,
        }
    }
}

/// The share of this rank: all, where it is alone.
pub(super) struct Share {
    /// Cells and nodes of this rank.
    own: [usize; 2],
    ranks: Option<OfRanks>,
}

/// One of several.
struct OfRanks {
    comm: Arc<dyn Comm>,
    /// Of the cells, of the nodes, and of two unknowns a node.
    numberings: [Numbering; 3],
    /// Which rank has which cells and nodes, on rank 0.
    partitions: Option<[Partition; 2]>,
}

impl Share {
    /// That of a rank which is alone.
    pub fn all(cells: usize, nodes: usize) -> Self {
        Share { own: [cells, nodes], ranks: None }
    }

    /// That of one of several ranks, of the nodes of a part, and the rank of each node of the whole mesh.
    /// `cell_nodes` are the nodes of the whole mesh that have a cell, `None` where all have; `local_cells`
    /// those among the nodes of the part.
    pub fn of(
        comm: &Arc<dyn Comm>,
        (part, owners): (&[u32], &[u32]),
        cell_nodes: Option<&[u32]>,
        local_cells: Option<&[u32]>,
    ) -> Self {
        let rank = comm.rank();
        let owner = |node: &u32| owners[*node as usize];
        let of_nodes = || Numbering::new(rank, part.iter().map(|node| (*node, owner(node))), owners.len());
        let cells = match (cell_nodes, local_cells) {
            (Some(all), Some(local)) => {
                let nodes = || local.iter().map(|&k| part[k as usize]);
                let number = |node: u32| all.partition_point(|&other| other < node) as u32;
                Numbering::new(rank, nodes().map(|node| (number(node), owner(&node))), all.len())
            }
            _ => of_nodes(),
        };
        let nodes = of_nodes();
        let partition = |owners: &[u32]| Partition::of_owners(owners, comm.size());
        let partitions = (rank == 0).then(|| {
            let of_cells: Option<Vec<u32>> = cell_nodes.map(|all| all.iter().map(owner).collect());
            [partition(of_cells.as_deref().unwrap_or(owners)), partition(owners)]
        });
        let own = [cells.own().len(), nodes.own().len()];
        let pairs = nodes.written_out(rank, 2);
        let ranks = OfRanks { comm: comm.clone(), numberings: [cells, nodes, pairs], partitions };
        Share { own, ranks: Some(ranks) }
    }

    /// How many unknowns this rank has.
    pub fn count(&self, of: Unknowns) -> usize {
        let [cells, nodes] = self.own;
        match of {
            Unknowns::Cells => cells,
            Unknowns::Nodes(each) => each * nodes,
        }
    }

    /// Nodes of this rank, and those of others that it looks at.
    pub fn nodes(&self) -> [usize; 2] {
        let own = self.own[1];
        [own, self.numbering(Unknowns::Nodes(1)).map_or(0, |numbering| numbering.len() - own)]
    }

    /// Whether this is the first of several ranks, or alone: it has the results.
    pub fn is_first(&self) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.comm.rank() == 0)
    }

    /// How it talks to the others; `None` where it is alone.
    pub fn comm(&self) -> Option<&Arc<dyn Comm>> {
        self.ranks.as_ref().map(|ranks| &ranks.comm)
    }

    /// The unknowns that this rank assembles for; `None` where it is alone.
    pub fn numbering(&self, of: Unknowns) -> Option<&Numbering> {
        let [cells, nodes, pairs] = &self.ranks.as_ref()?.numberings;
        Some(match of {
            Unknowns::Cells => cells,
            Unknowns::Nodes(1) => nodes,
            Unknowns::Nodes(_) => pairs,
        })
    }

    /// What this rank multiplies of a matrix that it has assembled. All ranks call this.
    pub fn piece(&self, a: Csr<f64>, rows: Unknowns, columns: Unknowns) -> Result<Piece> {
        match (self.comm(), self.numbering(rows), self.numbering(columns)) {
            (Some(comm), Some(rows), Some(columns)) => Piece::assembled(&**comm, &a, rows, columns),
            _ => Ok(Piece::whole(Arc::new(a))),
        }
    }

    /// The elements of this rank's own unknowns, of those that it assembles for.
    pub fn own<T: Copy>(&self, values: Vec<T>, of: Unknowns) -> Vec<T> {
        match self.numbering(of) {
            None => values,
            Some(numbering) => numbering.own().iter().map(|k| values[k as usize]).collect(),
        }
    }

    /// The elements of the unknowns that this rank assembles for: its own, and what their ranks have of
    /// others. All ranks call this.
    pub fn with_others(&self, own: Vec<f64>, of: Unknowns) -> Result<Vec<f64>> {
        let (Some(comm), Some(numbering)) = (self.comm(), self.numbering(of)) else { return Ok(own) };
        let mut all = vec![0.0; numbering.len()];
        numbering.own().iter().zip(own).for_each(|(k, value)| all[k as usize] = value);
        numbering.update(&**comm, &mut all)?;
        Ok(all)
    }

    /// The places of the unknowns that are this rank's own, of those that it assembles for.
    pub fn own_places(&self, of: Unknowns) -> Vec<u32> {
        match self.numbering(of) {
            None => (0..self.count(of) as u32).collect(),
            Some(numbering) => numbering.own().expanded(),
        }
    }

    /// The number in the whole mesh of each of the unknowns that this rank assembles for.
    pub fn numbers(&self, of: Unknowns) -> Vec<u32> {
        match self.numbering(of) {
            None => (0..self.count(of) as u32).collect(),
            Some(numbering) => numbering.numbers().expanded(),
        }
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.comm().map_or(0, |comm| comm.rank())
    }

    /// What each rank counts. All ranks call this.
    pub fn counts(&self, mine: usize) -> Result<Vec<usize>> {
        let Some(comm) = self.comm() else { return Ok(vec![mine]) };
        Ok(comm.all_gather(&[mine as f64])?.into_iter().map(|count| count as usize).collect())
    }

    /// The sums over ranks. All ranks call this.
    pub fn sums<const N: usize>(&self, mine: [f64; N]) -> Result<[f64; N]> {
        let Some(comm) = self.comm() else { return Ok(mine) };
        let sums = comm::sums(&**comm, &mine)?;
        Ok(std::array::from_fn(|k| sums[k]))
    }

    /// What this rank has of the null space of a matrix that it has assembled; see [`NullSpace::of`]. All
    /// ranks call this.
    pub fn null_space(&self, a: &Csr<f64>, unknowns: Unknowns, kinds: usize) -> Result<Option<NullSpace>> {
        match (self.comm(), self.numbering(unknowns)) {
            (Some(comm), Some(numbering)) => {
                NullSpace::on_ranks(&**comm, a, &numbering.own().expanded(), 0, kinds)
            }
            _ => Ok(NullSpace::of(a, kinds)),
        }
    }

    /// What is `made` on every rank or on none. All ranks call this.
    pub fn agree<R>(&self, made: Result<R>) -> Result<R> {
        comm::agreed(self.comm(), made)
    }

    /// The elements of all ranks, on the first; none elsewhere. There are `planes` elements of each unknown,
    /// one plane after the other. All ranks call this.
    pub fn gather(&self, own: Vec<f64>, of: Unknowns, planes: usize) -> Result<Vec<f64>> {
        let Some(OfRanks { comm, partitions, .. }) = &self.ranks else { return Ok(own) };
        let messages = comm.gather(own.into_iter().flat_map(f64::to_le_bytes).collect())?;
        let (Some(messages), Some(partitions)) = (messages, partitions) else { return Ok(Vec::new()) };
        let partition = &partitions[usize::from(of != Unknowns::Cells)];
        let mut all = vec![0.0; planes * of.each() * partition.n_rows()];
        for (rank, message) in messages.iter().enumerate() {
            let values = message.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes));
            places(partition, rank, of.each(), planes).zip(values).for_each(|(k, value)| all[k] = value);
        }
        Ok(all)
    }

    /// What this rank gets of the elements of all, which the first has, in the order of [`Share::gather`].
    /// All ranks call this.
    pub fn scatter(&self, all: &[f64], of: Unknowns, planes: usize) -> Result<Vec<f64>> {
        let Some(OfRanks { comm, partitions, .. }) = &self.ranks else { return Ok(all.to_vec()) };
        let Some(partitions) = partitions else {
            let message = comm.receive(0)?;
            return Ok(message.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect());
        };
        let partition = &partitions[usize::from(of != Unknowns::Cells)];
        let part = |rank| places(partition, rank, of.each(), planes).map(|k| all[k]);
        for rank in 1..comm.size() {
            comm.send(rank, &part(rank).flat_map(f64::to_le_bytes).collect::<Vec<u8>>())?;
        }
        Ok(part(0).collect())
    }
}

/// Where the elements of a rank are among those of all, `each` for a row of the partition in every plane.
fn places(
    partition: &Partition,
    rank: usize,
    each: usize,
    planes: usize,
) -> impl Iterator<Item = usize> + '_ {
    let rows = partition.rows(rank);
    let plane = each * partition.n_rows();
    (0..planes)
        .flat_map(move |p| rows.iter().map(move |row| p * plane + each * row as usize))
        .flat_map(move |first| first..first + each)
}
