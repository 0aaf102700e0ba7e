//! The grid of the room (GD-08): cells, what blocks them, shortest paths, zones, danger sets.

use crate::profile::World;
use crate::shape::{Fold, Misread, Shape};

/// Columns, x = 0 in the west.
pub const WIDTH: usize = 16;
/// Rows, y = 0 in the north.
pub const HEIGHT: usize = 12;
/// All cells.
pub const CELLS: usize = WIDTH * HEIGHT;
/// Distance of cells between which there is no path.
const NO_PATH: u8 = u8::MAX;

/// A cell of the room as `y * 16 + x`; the order is row by row, so the smaller y comes first, then the smaller x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell(pub u8);

impl Cell {
    /// The cell at `x`, `y`.
    #[must_use]
    pub fn at(x: i64, y: i64) -> Option<Cell> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        if x < WIDTH && y < HEIGHT { Cell::of_index(y * WIDTH + x) } else { None }
    }

    /// The cell with this index.
    #[must_use]
    pub fn of_index(index: usize) -> Option<Cell> {
        u8::try_from(index).ok().filter(|_| index < CELLS).map(Cell)
    }

    /// Whether there is such a cell: one that was read from outside need not be.
    #[must_use]
    pub fn in_room(self) -> bool {
        self.index() < CELLS
    }

    /// All cells in their order.
    pub fn all() -> impl Iterator<Item = Cell> {
        (0..CELLS).filter_map(Cell::of_index)
    }

    /// `y * 16 + x`.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Column.
    #[must_use]
    pub fn x(self) -> i64 {
        (self.index() % WIDTH) as i64
    }

    /// Row.
    #[must_use]
    pub fn y(self) -> i64 {
        (self.index() / WIDTH) as i64
    }

    /// Manhattan distance, in cells.
    #[must_use]
    pub fn manhattan(self, other: Cell) -> i64 {
        (self.x() - other.x()).abs() + (self.y() - other.y()).abs()
    }

    /// The cell next to it.
    #[must_use]
    pub fn toward(self, direction: Direction) -> Option<Cell> {
        let (dx, dy) = direction.step();
        Cell::at(self.x() + dx, self.y() + dy)
    }

    /// The cells next to it that exist, in the order N, E, S, W.
    pub fn neighbours(self) -> impl Iterator<Item = Cell> {
        Direction::ALL.iter().copied().filter_map(move |direction| self.toward(direction))
    }
}

impl Shape for Cell {
    #[inline]
    fn fold(&self, fold: &mut Fold) {
        self.0.fold(fold);
    }
    fn show(&self) -> canon::Value {
        self.0.show()
    }
    fn read(value: &canon::Value) -> Result<Cell, Misread> {
        let cell = u8::read(value).map(Cell)?;
        if cell.in_room() { Ok(cell) } else { Err(Misread::here("a cell of the room")) }
    }
}

crate::names! {
    /// A facing or a step (GD-10), clockwise from north: the order in which ties of paths are broken.
    pub enum Direction {
        /// Toward y = 0.
        North = "N",
        /// Toward the last column.
        East = "E",
        /// Toward the last row.
        South = "S",
        /// Toward x = 0.
        West = "W",
    }
}

impl Direction {
    fn step(self) -> (i64, i64) {
        match self {
            Direction::North => (0, -1),
            Direction::East => (1, 0),
            Direction::South => (0, 1),
            Direction::West => (-1, 0),
        }
    }

    /// The direction of a step between two neighbours.
    #[must_use]
    pub fn between(from: Cell, to: Cell) -> Option<Direction> {
        Direction::ALL.iter().copied().find(|direction| from.toward(*direction) == Some(to))
    }

    /// The direction that faces `to` from `from`: along the longer of the two offsets, north and south on a tie. None on
    /// the cell itself.
    #[must_use]
    pub fn facing(from: Cell, to: Cell) -> Option<Direction> {
        let (dx, dy) = (to.x() - from.x(), to.y() - from.y());
        match () {
            () if dx == 0 && dy == 0 => None,
            () if dx.abs() > dy.abs() && dx > 0 => Some(Direction::East),
            () if dx.abs() > dy.abs() => Some(Direction::West),
            () if dy > 0 => Some(Direction::South),
            () => Some(Direction::North),
        }
    }

    /// One quarter of a turn toward another facing, clockwise when both ways are as short.
    #[must_use]
    pub fn quarter_toward(self, wanted: Direction) -> Direction {
        let around = Direction::ALL.len();
        let clockwise = (self as usize + 1) % around;
        let counter = (self as usize + around - 1) % around;
        let turned = if wanted as usize == counter { counter } else { clockwise };
        if self == wanted { self } else { Direction::ALL[turned] }
    }

    /// Quarters of a turn between two facings, 0 to 2.
    #[must_use]
    pub fn quarters(self, other: Direction) -> i64 {
        let around = Direction::ALL.len() as i64;
        let apart = (self as i64 - other as i64).abs();
        apart.min(around - apart)
    }
}

/// Words of a [`CellSet`].
const WORDS: usize = CELLS.div_ceil(u64::BITS as usize);

/// A set of cells, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellSet {
    /// Bit `index % 64` of word `index / 64`.
    pub words: [u64; WORDS],
}

crate::shape!(CellSet { words });

impl CellSet {
    /// True when the cell is in it.
    #[must_use]
    pub fn has(&self, cell: Cell) -> bool {
        let (word, bit) = place(cell);
        self.words[word] & bit != 0
    }

    /// Puts a cell in.
    pub fn insert(&mut self, cell: Cell) {
        let (word, bit) = place(cell);
        self.words[word] |= bit;
    }

    /// Takes a cell out.
    pub fn remove(&mut self, cell: Cell) {
        let (word, bit) = place(cell);
        self.words[word] &= !bit;
    }

    /// Number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True without a cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Its cells in their order.
    pub fn iter(&self) -> impl Iterator<Item = Cell> {
        Cell::all().filter(|cell| self.has(*cell))
    }
}

impl FromIterator<Cell> for CellSet {
    fn from_iter<I: IntoIterator<Item = Cell>>(cells: I) -> CellSet {
        let mut set = CellSet::default();
        cells.into_iter().for_each(|cell| set.insert(cell));
        set
    }
}

fn place(cell: Cell) -> (usize, u64) {
    let bits = u64::BITS as usize;
    (cell.index() / bits, 1 << (cell.index() % bits))
}

/// Number of exploration zones (GD-08).
pub const ZONES: usize = 6;

/// The layout: what never moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    letters: [u8; CELLS],
    walkable: CellSet,
    zone_centres: [Cell; ZONES],
    zones: [u8; CELLS],
}

impl Grid {
    /// The layout of the profile; nothing when a row is no row or a zone has its centre outside.
    #[must_use]
    pub fn of(world: &World) -> Option<Grid> {
        let mut letters = [WALL; CELLS];
        for (row, text) in letters.chunks_mut(WIDTH).zip(&world.rows) {
            let known = |letter: &u8| matches!(*letter, WALL | FREE) || letter.is_ascii_uppercase();
            if text.len() != WIDTH || !text.as_bytes().iter().all(known) {
                return None;
            }
            row.copy_from_slice(text.as_bytes());
        }
        let walkable = Cell::all().filter(|cell| letters[cell.index()] == FREE).collect();
        let mut zone_centres = [Cell(0); ZONES];
        for (centre, [x, y]) in zone_centres.iter_mut().zip(world.zones) {
            *centre = Cell::at(x, y)?;
        }
        let mut grid = Grid { letters, walkable, zone_centres, zones: [0; CELLS] };
        grid.zones = grid.nearest_zones();
        Some(grid)
    }

    /// Cells on which the Agent can stand when no blocker is in the room.
    #[must_use]
    pub fn walkable(&self) -> &CellSet {
        &self.walkable
    }

    /// Cells of the partition, which block movement and sight.
    #[must_use]
    pub fn partition(&self) -> CellSet {
        self.lettered(WALL)
    }

    /// Cells of the furniture that this letter of the layout stands for.
    #[must_use]
    pub fn lettered(&self, letter: u8) -> CellSet {
        Cell::all().filter(|cell| self.letters[cell.index()] == letter).collect()
    }

    /// Walkable neighbours of these cells: where furniture is used from (GD-09).
    #[must_use]
    pub fn access(&self, furniture: &CellSet) -> CellSet {
        furniture.iter().flat_map(Cell::neighbours).filter(|cell| self.walkable.has(*cell)).collect()
    }

    /// The zone of a walkable cell: the one with the nearest centre by walking distance, the first on a tie.
    #[must_use]
    pub fn zone(&self, cell: Cell) -> u8 {
        self.zones[cell.index()]
    }

    /// Where the zone has its centre.
    #[must_use]
    pub fn zone_centre(&self, zone: u8) -> Cell {
        self.zone_centres[usize::from(zone)]
    }

    /// Walkable cells within `radius` of `source`; the partition gives no protection (GD-13).
    #[must_use]
    pub fn danger_set(&self, source: Cell, radius: i64) -> CellSet {
        self.walkable.iter().filter(|cell| cell.manhattan(source) <= radius).collect()
    }

    fn nearest_zones(&self) -> [u8; CELLS] {
        let paths = Paths::new(self, &CellSet::default());
        std::array::from_fn(|index| {
            let distance = |zone: &u8| {
                let centre = self.zone_centres[usize::from(*zone)];
                Cell::of_index(index).and_then(|cell| paths.distance(cell, centre)).unwrap_or(NO_PATH)
            };
            // The first of equal ones is kept.
            (0..ZONES as u8).min_by_key(distance).unwrap_or_default()
        })
    }
}

const WALL: u8 = b'#';
const FREE: u8 = b'.';

/// Shortest walking distances between all cells, for one set of blockers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    distances: Vec<u8>,
}

impl Paths {
    /// Distances with `blocked` cells out of the room. From a blocked cell no path leads away, and none to it.
    #[must_use]
    pub fn new(grid: &Grid, blocked: &CellSet) -> Paths {
        let mut distances = vec![NO_PATH; CELLS * CELLS];
        let open: CellSet = grid.walkable.iter().filter(|cell| !blocked.has(*cell)).collect();
        let mut queue = Vec::with_capacity(CELLS);
        for (source, row) in Cell::all().zip(distances.chunks_mut(CELLS)) {
            if open.has(source) {
                queue.clear();
                queue.push(source);
                spread(&open, &mut queue, row);
            }
        }
        Paths { distances }
    }

    /// Steps between two cells; one step is one tick.
    #[inline]
    #[must_use]
    pub fn distance(&self, from: Cell, to: Cell) -> Option<u8> {
        Some(self.distances[from.index() * CELLS + to.index()]).filter(|steps| *steps != NO_PATH)
    }

    /// The next cell on a shortest path, the first one in the order N, E, S, W.
    #[must_use]
    pub fn next_step(&self, from: Cell, to: Cell) -> Option<Cell> {
        let left = self.distance(from, to)?;
        from.neighbours().find(|next| self.distance(*next, to).is_some_and(|steps| steps < left))
    }

    /// The cells of that path after `from`, `to` included.
    pub fn route(&self, from: Cell, to: Cell) -> impl Iterator<Item = Cell> {
        std::iter::successors(self.next_step(from, to), move |cell| self.next_step(*cell, to))
    }

    /// The shortest path that keeps out of `avoided` cells: its steps and its next cell, the first in the order N, E, S, W. No
    /// step and `from` itself when it is there already.
    pub fn around(&self, from: Cell, to: Cell, avoided: impl Fn(Cell) -> bool) -> Option<(u8, Cell)> {
        let open: CellSet =
            Cell::all().filter(|cell| self.distance(*cell, to).is_some() && !avoided(*cell)).collect();
        if !open.has(from) || !open.has(to) {
            return None;
        }
        let mut distances = vec![NO_PATH; CELLS];
        spread(&open, &mut vec![to], &mut distances);
        let steps = Some(distances[from.index()]).filter(|steps| *steps != NO_PATH)?;
        let next = from.neighbours().find(|next| distances[next.index()] < steps);
        Some((steps, next.unwrap_or(from)))
    }

    /// The nearest cell of `goals`, ties broken by the smaller y, then the smaller x (GD-13).
    #[must_use]
    pub fn nearest(&self, from: Cell, goals: &CellSet) -> Option<Cell> {
        let reached = goals.iter().filter_map(|goal| Some((self.distance(from, goal)?, goal)));
        reached.min().map(|(_, goal)| goal)
    }

    /// The nearest cell that is walkable and not in `danger`.
    #[must_use]
    pub fn nearest_safe(&self, grid: &Grid, from: Cell, danger: &CellSet) -> Option<Cell> {
        let safe = grid.walkable.iter().filter(|cell| !danger.has(*cell)).collect();
        self.nearest(from, &safe)
    }

    /// Most steps that any cell of `danger` is away from safety; nothing when one has no way out (GD-13).
    #[must_use]
    pub fn steps_to_safety(&self, grid: &Grid, danger: &CellSet) -> Option<u8> {
        let steps = |cell| self.distance(cell, self.nearest_safe(grid, cell, danger)?);
        danger.iter().try_fold(0, |most: u8, cell| Some(most.max(steps(cell)?)))
    }

    /// The longest of all shortest paths; nothing when some pair of walkable cells has none.
    #[must_use]
    pub fn diameter(&self, grid: &Grid) -> Option<u8> {
        let pairs = grid.walkable.iter().flat_map(|from| grid.walkable.iter().map(move |to| (from, to)));
        pairs.map(|(from, to)| self.distance(from, to)).try_fold(0, |most: u8, steps| Some(most.max(steps?)))
    }
}

/// Breadth first from the cells of `queue`.
fn spread(open: &CellSet, queue: &mut Vec<Cell>, distances: &mut [u8]) {
    for cell in queue.iter() {
        distances[cell.index()] = 0;
    }
    let mut next = 0;
    while let Some(cell) = queue.get(next).copied() {
        next += 1;
        let steps = distances[cell.index()] + 1;
        for neighbour in cell.neighbours().filter(|neighbour| open.has(*neighbour)) {
            if distances[neighbour.index()] == NO_PATH {
                distances[neighbour.index()] = steps;
                queue.push(neighbour);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn grid() -> Grid {
        Grid::of(&Profile::reference().world).unwrap()
    }

    fn cell(x: i64, y: i64) -> Cell {
        Cell::at(x, y).unwrap()
    }

    #[test]
    fn counts_of_gd_08() {
        let grid = grid();
        assert_eq!(CELLS, 192);
        assert_eq!(grid.partition().len(), 8);
        assert_eq!(grid.walkable().len(), 170);
        assert_eq!(CELLS - grid.walkable().len() - grid.partition().len(), 14, "furniture");
        assert!(grid.partition().iter().all(|cell| cell.x() == 6 && cell.y() <= 7));
    }

    #[test]
    fn the_diameter_is_that_of_ar_30() {
        let grid = grid();
        let paths = Paths::new(&grid, &CellSet::default());
        assert_eq!(paths.diameter(&grid), Some(30));
        assert_eq!(paths.distance(cell(0, 1), cell(15, 0)), Some(30));
        let longest =
            grid.walkable().iter().flat_map(|from| grid.walkable().iter().map(move |to| (from, to)));
        let longest: Vec<_> = longest.filter(|(from, to)| paths.distance(*from, *to) == Some(30)).collect();
        assert_eq!(longest, [(cell(15, 0), cell(0, 1)), (cell(0, 1), cell(15, 0))]);
        let farthest = grid.walkable().iter().map(|to| paths.distance(cell(8, 8), to)).max();
        assert_eq!(farthest, Some(Some(15)));
    }

    #[test]
    fn danger_sets_of_gd_13_and_gd_92() {
        let grid = grid();
        let paths = Paths::new(&grid, &CellSet::default());
        let steps = |source, radius| paths.steps_to_safety(&grid, &grid.danger_set(source, radius));
        let heater = cell(13, 4);
        assert_eq!(grid.lettered(b'H').iter().collect::<Vec<_>>(), [heater]);
        assert_eq!(grid.danger_set(heater, 4).len(), 35);
        assert_eq!([3, 4, 5].map(|radius| steps(heater, radius)), [Some(3), Some(4), Some(5)]);
        let source = cell(2, 1);
        assert_eq!(grid.danger_set(source, 4).len(), 24);
        assert_eq!(steps(source, 4), Some(6));
        let bed = grid.access(&grid.lettered(b'B'));
        assert!(bed.has(cell(0, 1)));
        let safe = paths.nearest_safe(&grid, cell(0, 1), &grid.danger_set(source, 4)).unwrap();
        assert_eq!(paths.distance(cell(0, 1), safe), Some(3));
    }

    #[test]
    fn steps_prefer_north_then_east() {
        let grid = grid();
        let paths = Paths::new(&grid, &CellSet::default());
        assert_eq!(paths.next_step(cell(8, 8), cell(10, 6)), Some(cell(8, 7)));
        assert_eq!(paths.next_step(cell(8, 8), cell(10, 10)), Some(cell(9, 8)));
        assert_eq!(paths.next_step(cell(8, 8), cell(8, 8)), None);
        let route: Vec<Cell> = paths.route(cell(5, 5), cell(7, 5)).collect();
        assert_eq!(route.len(), 8, "around the partition");
        assert_eq!(route.last(), Some(&cell(7, 5)));
    }

    #[test]
    fn a_blocker_closes_or_lengthens_paths() {
        let grid = grid();
        let gap: CellSet = (8..12).map(|y| cell(6, y)).collect();
        let paths = Paths::new(&grid, &gap);
        assert_eq!(paths.distance(cell(5, 8), cell(7, 8)), None);
        assert_eq!(paths.diameter(&grid), None);
        assert_eq!(paths.next_step(cell(5, 8), cell(7, 8)), None);
        let one: CellSet = [cell(6, 8)].into_iter().collect();
        assert_eq!(Paths::new(&grid, &one).distance(cell(5, 8), cell(7, 8)), Some(4));
        assert_eq!(Paths::new(&grid, &one).distance(cell(6, 8), cell(7, 8)), None);
    }

    #[test]
    fn zones_of_gd_08() {
        let grid = grid();
        for zone in 0..ZONES as u8 {
            assert_eq!(grid.zone(grid.zone_centre(zone)), zone);
        }
        assert_eq!(grid.zone(cell(8, 8)), 1, "six steps to alcove_south, seven to workshop_north");
        assert_eq!(grid.zone(cell(8, 7)), 2, "six steps to workshop_north, seven around the partition");
        let sizes: Vec<usize> = (0..ZONES as u8)
            .map(|zone| grid.walkable().iter().filter(|cell| grid.zone(*cell) == zone).count())
            .collect();
        assert_eq!(sizes.iter().sum::<usize>(), 170);
        assert!(sizes.iter().all(|size| *size > 0), "{sizes:?}");
    }

    #[test]
    fn directions() {
        use Direction::{East, North, South, West};
        assert_eq!([North.quarters(West), North.quarters(South), East.quarters(East)], [1, 2, 0]);
        assert_eq!(Direction::between(cell(1, 1), cell(0, 1)), Some(West));
        assert_eq!(Direction::between(cell(1, 1), cell(3, 1)), None);
        assert_eq!(Cell::at(16, 0), None);
        assert_eq!(Cell::at(0, -1), None);
        assert_eq!(cell(0, 0).neighbours().collect::<Vec<_>>(), [cell(1, 0), cell(0, 1)]);
    }

    #[test]
    fn a_layout_that_is_none() {
        let mut world = Profile::reference().world.clone();
        world.rows[3] = "......#..ww.....".to_owned();
        assert_eq!(Grid::of(&world), None);
        world.rows[3] = "......#".to_owned();
        assert_eq!(Grid::of(&world), None);
    }
}
