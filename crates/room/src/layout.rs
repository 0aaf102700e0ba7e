//! Where one stands to use an object (GD-09), and what the room looks like at the start.

use crate::grid::{Cell, Paths};
use crate::profile::Profile;
use crate::world::{Obj, Parent, Place};

/// The furniture of the room: the cells of each object that stands or is mounted. Made from the profile, never changed.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    cells: [Vec<Cell>; Obj::COUNT],
}

impl Layout {
    /// Reads the rows and anchors of the profile.
    #[must_use]
    pub(crate) fn new(profile: &Profile) -> Layout {
        let mut layout = Layout { cells: std::array::from_fn(|_| Vec::new()) };
        for (y, row) in profile.world.rows.iter().enumerate() {
            for (x, letter) in row.chars().enumerate() {
                if let (Some(obj), Some(cell)) = (furniture(letter), Cell::at(x as i64, y as i64)) {
                    layout.cells[obj.index()].push(cell);
                }
            }
        }
        let world = &profile.world;
        for (obj, [x, y]) in [
            (Obj::Breaker, world.anchor_breaker),
            (Obj::Window, world.anchor_window),
            (Obj::NoticeBoard, world.anchor_notice_board),
            (Obj::Picture, world.anchor_picture),
            (Obj::Clock, world.anchor_clock),
            (Obj::Door, world.anchor_door),
        ] {
            layout.cells[obj.index()].extend(Cell::at(x, y));
        }
        layout
    }

    /// The cells of a piece of furniture or a mounted object; none for what moves.
    #[must_use]
    pub(crate) fn cells(&self, obj: Obj) -> &[Cell] {
        &self.cells[obj.index()]
    }

    /// Visits the cells that an object can be used from.
    fn each_access(&self, obj: Obj, parent_of: &dyn Fn(Obj) -> Parent, visit: &mut dyn FnMut(Cell)) {
        let parent = parent_of(obj);
        match parent.place {
            Place::Fixed if obj.blocks() => self.around(self.cells(obj), visit),
            Place::Fixed => self.cells(obj).iter().for_each(|cell| visit(*cell)),
            Place::Surface | Place::Container => match parent.holder() {
                Some(holder) if holder.blocks() => self.around(self.cells(holder), visit),
                Some(holder) => self.cells(holder).iter().for_each(|cell| visit(*cell)),
                None => {}
            },
            Place::Cell => {
                let cell = Cell(parent.of);
                visit(cell);
                cell.neighbours().for_each(visit);
            }
            Place::AgentHand | Place::HumanHand | Place::Destroyed => {}
        }
    }

    fn around(&self, cells: &[Cell], visit: &mut dyn FnMut(Cell)) {
        for cell in cells {
            cell.neighbours().for_each(&mut *visit);
        }
    }

    /// The nearest cell from which `obj` can be used, and its distance; ties go to the smaller y, then the smaller x.
    #[must_use]
    pub(crate) fn nearest(
        &self,
        obj: Obj,
        parent_of: &dyn Fn(Obj) -> Parent,
        from: Cell,
        paths: &Paths,
    ) -> Option<(Cell, u8)> {
        let mut best: Option<(u8, Cell)> = None;
        self.each_access(obj, parent_of, &mut |cell| {
            if let Some(distance) = paths.distance(from, cell)
                && best.is_none_or(|known| (distance, cell) < known)
            {
                best = Some((distance, cell));
            }
        });
        best.map(|(distance, cell)| (cell, distance))
    }
}

fn furniture(letter: char) -> Option<Obj> {
    Some(match letter {
        'B' => Obj::Bed,
        'N' => Obj::Drawer,
        'W' => Obj::Workbench,
        'H' => Obj::Heater,
        'C' => Obj::Chair,
        'S' => Obj::SharedBox,
        'P' => Obj::Pantry,
        'T' => Obj::Table,
        'D' => Obj::Dispenser,
        _ => return None,
    })
}
