//! The screen of a terminal.

use std::path::Path;
use std::time::Instant;

use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, Wrap};
use topas_data::Outputs;
use topas_render::why::title;

use crate::args::{TopArgs, TopView};
use crate::board::{Board, TimeShares, TopRow, columns, why_empty};
use crate::table::as_csv;
use crate::watch::Watch;
use crate::{TOOL, exit};

/// Where the rows of a view are exported to.
const EXPORT: &str = "topas-top.csv";

/// Lines that tell which ranks stand still or were lost.
const STUCK: u16 = 3;

/// What the user sees beside the rows.
#[derive(Default)]
pub struct ScreenState {
    /// First row that is shown
    top: usize,
    /// The user types a filter
    typing: bool,
    /// What the last key did
    note: String,
}

/// Shows the board until the user quits: the exit code.
pub fn run(args: &TopArgs, watch: &mut Watch) -> u8 {
    let mut args = args.clone();
    let mut state = ScreenState::default();
    if let Err(code) = watch.look() {
        return code;
    }
    if watch.board().is_none() {
        watch.nothing();
        return exit::NOTHING;
    }
    let mut terminal = match ratatui::try_init() {
        Ok(terminal) => terminal,
        Err(cause) => {
            TOOL.error(&"cannot use the terminal", Some(&cause), "--plain prints text");
            return exit::FAILED;
        }
    };
    let mut next = Instant::now() + args.period();
    let end = loop {
        if let Err(cause) = terminal.draw(|frame| draw(frame, watch.board(), &args, &state)) {
            break Err(cause);
        }
        match event::poll(next.saturating_duration_since(Instant::now())) {
            Err(cause) => break Err(cause),
            Ok(true) => match event::read() {
                Err(cause) => break Err(cause),
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    let stop = key.modifiers.contains(KeyModifiers::CONTROL)
                        && key.code == KeyCode::Char('c');
                    if stop || !pressed(key.code, &mut args, &mut state, watch) {
                        break Ok(exit::OK);
                    }
                }
                Ok(_) => {}
            },
            Ok(false) => {}
        }
        if Instant::now() >= next {
            next = Instant::now() + args.period();
            if let Err(code) = watch.look() {
                break Ok(code);
            }
            if let Some(complaint) = watch.take_complaints().pop() {
                state.note = complaint;
            }
        }
    };
    ratatui::restore();
    match end {
        Ok(code) => code,
        Err(cause) => {
            TOOL.error(&"cannot use the terminal", Some(&cause), "--plain prints text");
            exit::FAILED
        }
    }
}

/// Acts on a key. False if the user quits.
fn pressed(key: KeyCode, args: &mut TopArgs, state: &mut ScreenState, watch: &mut Watch) -> bool {
    state.note.clear();
    if state.typing {
        match key {
            KeyCode::Enter => state.typing = false,
            KeyCode::Esc => {
                state.typing = false;
                args.filter.clear();
            }
            KeyCode::Backspace => {
                args.filter.pop();
            }
            KeyCode::Char(letter) => args.filter.push(letter),
            _ => {}
        }
        return true;
    }
    let mut view = |view| {
        args.view = view;
        state.top = 0;
    };
    match key {
        KeyCode::Char('q') | KeyCode::Esc => return false,
        KeyCode::Char('r') => view(TopView::Ranks),
        KeyCode::Char('f') => view(TopView::Routines),
        KeyCode::Char('c') => view(TopView::Comms),
        KeyCode::Char('p') => view(TopView::Peers),
        KeyCode::Char('s') => args.sort = args.sort.next(),
        KeyCode::Char('n') => watch.next_launch(),
        KeyCode::Char('/') => {
            args.filter.clear();
            state.typing = true;
        }
        KeyCode::Char('e') => state.note = export(watch.board(), args),
        KeyCode::Down => state.top += 1,
        KeyCode::Up => state.top = state.top.saturating_sub(1),
        KeyCode::PageDown => state.top += 20,
        KeyCode::PageUp => state.top = state.top.saturating_sub(20),
        KeyCode::Home => state.top = 0,
        _ => {}
    }
    true
}

/// Writes the rows of the view to a file that is not there yet; what became of it.
fn export(board: Option<&Board>, args: &TopArgs) -> String {
    let Some(board) = board else { return String::new() };
    let path = Path::new(EXPORT);
    if path.exists() {
        return format!("{EXPORT} exists and stays as it is");
    }
    match Outputs::save(path, as_csv(board, args).as_bytes()) {
        Ok(()) => format!("written: {EXPORT}"),
        Err(cause) => format!("cannot write {EXPORT}: {cause}"),
    }
}

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, board: Option<&Board>, args: &TopArgs, state: &ScreenState) {
    let is_stuck = board.is_some_and(Board::is_stuck);
    let [head, warning, rows, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(if is_stuck { STUCK } else { 1 }),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    match board {
        None => frame.render_widget(Paragraph::new("The program has ended."), head),
        Some(board) => {
            frame.render_widget(Paragraph::new(board.title()).style(bold), head);
            if let Some(standing) = board.standing().filter(|_| is_stuck) {
                let red = bold.fg(Color::Red);
                frame.render_widget(
                    Paragraph::new(standing).style(red).wrap(Wrap { trim: true }),
                    warning,
                );
            } else if let Some(first) = board.search.findings.first() {
                frame.render_widget(Paragraph::new(title(first)), warning);
            }
            let all = board.rows(args);
            if all.is_empty() {
                frame.render_widget(Paragraph::new(why_empty(args.view)), rows);
            } else {
                let shown = all.iter().skip(state.top.min(all.len() - 1));
                frame.render_widget(table(shown, args.view, board.tells_waits()), rows);
            }
        }
    }
    let keys =
        "[r]anks [f]unctions [c]ommunicators [p]eers [s]ort [/]filter [e]xport [n]ext [q]uit";
    let text = if state.typing {
        format!("filter: {}_", args.filter)
    } else if state.note.is_empty() {
        let filter = if args.filter.is_empty() {
            String::new()
        } else {
            format!("  filter: {}", args.filter)
        };
        format!("{keys}  sort: {}{filter}", args.sort.word())
    } else {
        state.note.clone()
    };
    frame.render_widget(Paragraph::new(text), foot);
}

/// Cells of a bar.
const BAR: usize = 12;

fn table<'r>(rows: impl Iterator<Item = &'r TopRow>, view: TopView, waits: bool) -> Table<'r> {
    let ranks = view == TopView::Ranks;
    let mut header: Vec<&str> = columns(view, waits).to_vec();
    let mut widths: Vec<Constraint> = header.iter().map(|_| Constraint::Length(9)).collect();
    widths[0] =
        Constraint::Length(if matches!(view, TopView::Ranks | TopView::Peers) { 6 } else { 22 });
    if ranks {
        header.insert(2, "outside MPI");
        header.push("history of MPI %");
        widths.insert(2, Constraint::Length(BAR as u16));
        let now = widths.len() - 1;
        widths[3..now - 2].fill(Constraint::Length(7));
        widths[now] = Constraint::Length(36);
        widths.push(Constraint::Min(10));
    }
    let rows = rows.map(move |row| {
        let mut cells: Vec<Cell<'_>> =
            row.cells.iter().map(|cell| Cell::new(cell.shown.as_str())).collect();
        if let Some(shares) = &row.shares {
            cells.insert(2, Cell::new(bar(shares)));
            cells.push(Cell::new(history(&row.history)));
        }
        Row::new(cells)
    });
    let bold = Style::new().add_modifier(Modifier::BOLD);
    Table::new(rows, widths).header(Row::new(header).style(bold)).column_spacing(1)
}

/// Shares as a bar: outside MPI `#`; waiting for late senders and receivers `l`, waiting in
/// collectives `c`, long calls that go on `o`, the rest `.`; without waits point-to-point `p`, collectives `c`, other calls `.`.
/// Letters tell what colours tell.
fn bar(shares: &TimeShares) -> Line<'static> {
    let [first, second, third, rest] = shares.inside;
    let [one, two, three, other] = shares.letters;
    let parts = [
        (shares.outside, '#', Color::Green),
        (first, one, Color::Yellow),
        (second, two, Color::Magenta),
        (third, three, if three == 'o' { Color::Red } else { Color::Blue }),
        (rest, other, Color::Blue),
    ];
    let mut done = 0.0;
    let mut cells = 0;
    let mut spans = Vec::new();
    for (share, letter, color) in parts {
        done += share;
        let end = ((done * BAR as f64).round() as usize).min(BAR);
        let text: String = std::iter::repeat_n(letter, end.saturating_sub(cells)).collect();
        spans.push(Span::styled(text, Style::new().fg(color)));
        cells = end.max(cells);
    }
    Line::from(spans)
}

/// Shares of MPI between readings, a character each.
fn history(shares: &[f64]) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let level = |share: &f64| LEVELS[((share * 7.0).round() as usize).min(7)];
    shares.iter().rev().take(30).rev().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::{args, board};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    /// The lines of a screen of 132 columns.
    fn lines(args: &TopArgs, state: &ScreenState) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(132, 8)).unwrap();
        let board = board();
        terminal.draw(|frame| draw(frame, Some(&board), args, state)).unwrap();
        let buffer = terminal.backend().buffer();
        let row = |y| -> String { (0..132).map(|x| buffer[(x, y)].symbol()).collect() };
        (0..8).map(|y| row(y).trim_end().to_owned()).collect()
    }

    #[test]
    fn the_screen_shows_bars_calls_and_what_stands_still() {
        let shown = lines(&args(TopView::Ranks), &ScreenState::default());
        assert_eq!(
            shown[0],
            "heat  2 of 2 ranks here  10 s  MPI 60% of 20 s of the ranks' wall clock time"
        );
        let all = "No call has ended for 2.000 s: rank 0 in MPI_Recv from 1 at solve (heat.c:12) \
                   for 3.000 s; rank 1 in MPI_Barrier for 2.000 s. Ranks 0-1 each wait for the \
                   next, 0 -> 1 -> 0: the program may hang in a deadlock.";
        assert_eq!(shown[1..4].join(" ").trim_end(), all);
        assert!(shown[4].starts_with("rank   host      outside MPI  MPI %"), "{}", shown[4]);
        assert!(shown[5].starts_with("0      n1        ####pppppppp 40%"), "{}", shown[5]);
        assert!(shown[5].contains("MPI_Recv from 1 for 3.00 s !! at "), "{}", shown[5]);
        assert!(shown[5].contains("▁▅█▄"), "{}", shown[5]);
        assert!(shown[6].contains("######cccccc"), "{}", shown[6]);
        assert!(
            shown[7].starts_with("[r]anks") && shown[7].ends_with("sort: name"),
            "{}",
            shown[7]
        );
    }

    #[test]
    fn views_filters_and_positions_show_their_rows() {
        let routines = lines(&args(TopView::Routines), &ScreenState::default());
        assert!(routines[5].starts_with("MPI_Recv "), "{}", routines[5]);
        let filtered = TopArgs { filter: "Barrier".to_owned(), ..args(TopView::Routines) };
        assert!(lines(&filtered, &ScreenState::default())[5].starts_with("MPI_Barrier "));
        let scrolled = ScreenState { top: 1, ..ScreenState::default() };
        assert!(lines(&args(TopView::Ranks), &scrolled)[5].starts_with("1      n1"));
        let peers = lines(&args(TopView::Peers), &ScreenState::default());
        assert!(peers[4].contains("Pairs of ranks are not counted"), "{}", peers[4]);
        let typing = ScreenState { typing: true, ..ScreenState::default() };
        assert_eq!(lines(&filtered, &typing)[7], "filter: Barrier_");
    }

    #[test]
    fn a_program_that_has_ended_is_said() {
        let mut terminal = Terminal::new(TestBackend::new(40, 4)).unwrap();
        let args = args(TopView::Ranks);
        terminal.draw(|frame| draw(frame, None, &args, &ScreenState::default())).unwrap();
        let buffer = terminal.backend().buffer();
        let first: String = (0..40).map(|x| buffer[(x, 0)].symbol()).collect();
        assert_eq!(first.trim_end(), "The program has ended.");
    }
}
