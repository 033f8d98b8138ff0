"""Computes the figures of a weekly mail from the raw log, by DuckDB, and compares each.

usage: mail_figures.py MAIL USER WEEK LOG...; MAIL is what topas-report mail --show printed.
Prints how many numbers were compared, and which lines with numbers were not.
"""

import re
import sys

from figures import MEASURES, Page, hours, opened, percent, period

SIZE = "case when npes <= 2 then npes::text else (2 ** (ceil(log2(npes)) - 1) + 1)::bigint || '-' || (2 ** ceil(log2(npes)))::bigint end"


class Mail(Page):
    """Compares as the pages do; the text is in lines."""

    def __init__(self, db, text, user, since, until, before):
        self.db, self.user, self.since, self.until, self.before = db, user, since, until, before
        self.lines = text.splitlines()
        self.seen, self.compared, self.wrong, self.left = set(), 0, [], []

    def line(self, start):
        for at, line in enumerate(self.lines):
            if line.startswith(start) and at not in self.seen:
                self.seen.add(at)
                return line[len(start):]
        self.wrong.append(f"no line {start!r}")
        return ""

    def note(self):
        """The words in brackets under the line that was seen last, which may take several lines."""
        at = max(self.seen) + 1
        if not self.lines[at].strip().startswith("("):
            return ""
        words = []
        while not words or not words[-1].endswith(")"):
            self.seen.add(at)
            words.append(self.lines[at].strip())
            at += 1
        return " ".join(words)[1:-1]

    def paragraph(self, start, end=""):
        """The rest of the line that matches, with those behind it until one that ends so, or an empty one."""
        at = next((at for at, line in enumerate(self.lines) if re.match(start, line)), None)
        if at is None:
            self.wrong.append(f"no line {start!r}")
            return ""
        words = [re.sub(start, "", self.lines[at], count=1)]
        self.seen.add(at)
        while self.lines[at + 1].strip() and not (end and words[-1].endswith(end)):
            at += 1
            self.seen.add(at)
            words.append(self.lines[at].strip())
        return " ".join(words)

    def of_user(self, what, since, until, more="true"):
        return self.db.execute(f"select {what} from run where user = ? and day >= ? and day <= ? and {more}", [self.user, since, until]).fetchone()

    def check(self):
        now = lambda what, more="true": self.of_user(what, self.since, self.until, more)
        past = lambda what: self.of_user(what, *self.before)
        days = (self.until - self.since).days + 1
        first = self.db.execute("select min(day) from run where day >= ? and day <= ?", self.before).fetchone()[0]
        known = (self.before[1] - first).days + 1
        runs, pe = now("count(*), sum(pe)")
        runs_before, pe_before = past("count(*), coalesce(sum(pe), 0)")
        all_now, all_before = [self.db.execute("select sum(pe) from run where day >= ? and day <= ?", ends).fetchone()[0]
                               for ends in ((self.since, self.until), self.before)]
        rate, _, misses = now(MEASURES)
        rate_before, _, misses_before = past(MEASURES)
        mpi, wall, launches = self.profiled(self.since, self.until)
        mpi_before, wall_before, launches_before = self.profiled(*self.before)

        self.texts("subject", self.line("Subject: Your programs in "), r"\S+: ([\d.]+) PE-h, (\S+) MFlop/s per PE(?:, (.*) in MPI)?", hours(pe), rate, percent(mpi, wall))
        self.texts("first line", self.paragraph("Your programs in "), r"\S+ \(.*?\): ([\d.]+) PE-h, (\S+) MFlop/s per PE(?:, (.*) in MPI)?", hours(pe), rate, percent(mpi, wall))
        self.texts("PE-hours", self.line("PE-hours "), r"(\S+) +(\S+) +PE-h", hours(pe), hours(pe_before * days // known))
        self.texts("PE-hours", self.note(), r"(\d+) runs?; before: (?:mean of 4 weeks|mean of \d+ days of the \d+ that the log knows)", runs)
        self.texts("share", self.line("share of the machine "), r"(\S+) +(\S+) *", percent(pe, all_now), percent(pe_before, all_before))
        self.texts("share", self.note(), r"of ([\d.]+) PE-h of all runs in the log", hours(all_now))
        self.texts("rate", self.line("floating point rate "), r"(\S+) +(\S+) +MFlop/s per PE", rate, rate_before)
        self.change(rate, rate_before, now("count(*) filter (flop is null)")[0], runs)
        self.texts("misses", self.line("L1 cache misses "), r"(\S+) +(\S+) +misses per operation", misses, misses_before)
        self.change(misses, misses_before, now("count(*) filter (l1 is null or l1_flop = 0)")[0], runs)
        self.texts("MPI", self.line("time in MPI "), r"(\S+) +(\S+) *", percent(mpi, wall), percent(mpi_before, wall_before))
        self.texts("MPI", self.note(), r"(?:no run had an MPI profile|of the time of (\d+) profiled of (\d+) runs?)(?:; before: of (\d+) profiled of (\d+) runs?)?",
                   launches, runs, launches_before, runs_before)
        failed, told = now("count(*) filter (not well), count(well)")
        failed_before, told_before = past("count(*) filter (not well), count(well)")
        self.texts("failed", self.line("failed runs "), r"(\d+) of (\d+) +(\d+) of (\d+) *", failed, told, failed_before, told_before)
        self.comparison()
        self.programs(now, pe)
        self.routines(mpi, wall, launches)
        for at, line in enumerate(self.lines):
            known = line.startswith(("    column 1", "     column 1", "Columns 9 to 13", "MFlop/s is the mean", "median MFlop/s of", "others: median"))
            if at not in self.seen and not known and re.search(r"\d", line) and "WHAT THE NUMBERS ARE" not in self.lines[:at]:
                self.left.append(line)

    def change(self, now, before, without, runs):
        note = self.note()
        if not note:
            return
        found = re.fullmatch(r"(\S+%) against before(?:; not measured in (\d+) of (\d+) runs?)?", note)
        if not found:
            return self.wrong.append(f"another note: {note}")
        self.same("change", found[1], 100 * (now / before - 1))
        if found[2]:
            self.same("without", found[2], without)
            self.same("without", found[3], runs)

    def profiled(self, since, until):
        return self.db.execute("select coalesce(sum(mpi), 0), coalesce(sum(wall), 0), count(*) from profile where user = ? and day >= ? and day <= ?",
                               [self.user, since, until]).fetchone()

    def main_class(self):
        """Language and size with the most of the user's time."""
        return self.db.execute(f"select lang, {SIZE} from run where user = ? and day >= ? and day <= ? group by 1, 2 order by sum(pe) desc limit 1",
                               [self.user, self.since, self.until]).fetchone()

    def others(self, lang, size, value):
        """Runs and users other than this one with a value, its quartiles; nothing of less than five."""
        users, runs, quartiles = self.db.execute(
            f"select count(distinct user), count(*), quantile_cont({value}, [0.25, 0.5, 0.75]) from run where user <> ? and lang = ? and {SIZE} = ? "
            f"and day >= ? and day <= ? and {value} is not null", [self.user, lang, size, self.since, self.until]).fetchone()
        return (users, runs, quartiles) if users >= 5 else None

    def comparison(self):
        lang, size = self.main_class()
        own = lambda value: self.of_user(f"quantile_cont({value}, 0.5), count({value})", self.since, self.until, f"lang = '{lang}' and {SIZE} = '{size}'")
        start = next((at for at, line in enumerate(self.lines) if line.startswith(("Comparable runs", "No comparison"))), None)
        if start is None:
            return self.wrong.append("no comparison")
        end = next(at for at in range(start, len(self.lines)) if not self.lines[at].strip())
        self.seen.update(range(start, end))
        text = " ".join(line.strip() for line in self.lines[start:end])
        rate, misses = "(flop / flop_wall)", "(l1 / nullif(l1_flop, 0))"
        of = self.others(lang, size, rate)
        if of is None:
            self.compared += 1
            if not text.startswith(f"No comparison of rates with others: fewer than 5 other users ran comparable programs ({lang}, {size} PEs)"):
                self.wrong.append(f"too few others, but: {text}")
            return self.mpi_of_others(text, lang, size)
        users, runs, (_, median, upper) = of
        self.texts("comparison", re.split(r" L1 misses| Time in MPI", text)[0],
                   rf"Comparable runs \({lang}, {size} PEs\): the median of your (\d+) runs? is (\S+) MFlop/s per PE, that of (\d+) runs of (\d+) other users is (\S+), and a quarter of them reaches (\S+)\. You are .*\.",
                   own(rate)[1], own(rate)[0], runs, users, median, upper)
        of = self.others(lang, size, misses)
        if of and own(misses)[1]:
            users, runs, (lower, median, _) = of
            self.texts("misses of others", re.search(r"L1 misses(.*?)(?: Time in MPI|$)", text)[1],
                       r"per operation: the median of your runs is (\S+), that of (\d+) runs of (\d+) other users is (\S+), and a quarter of them has (\S+) or fewer\.",
                       own(misses)[0], runs, users, median, lower)
        self.mpi_of_others(text, lang, size)

    def mpi_of_others(self, text, lang, size):
        """The share of time in MPI of the largest of the user's classes with profiles, against others."""
        said = text.partition(" Time in MPI")[2]
        # Of which class a profile is, only the lines of its run tell.
        shares = f"select run.user as user, lang, {SIZE} as size, 100 * profile.mpi::double / profile.wall as share from profile join run using (id) where run.day >= ? and run.day <= ?"
        week = [self.since, self.until]
        own = self.db.execute(f"select lang, {SIZE} as size, sum(pe) as pe from run where user = ? and day >= ? and day <= ? group by 1, 2 "
                              f"having bool_or(id in (select id from profile)) order by pe desc limit 1", [self.user, *week]).fetchone()
        if not own:
            self.compared += 1
            return self.wrong.append(f"no profile, but: {said}") if said else None
        of_class = [*week, *own[:2]]
        mine, runs = self.db.execute(f"select quantile_cont(share, 0.5), count(*) from ({shares}) where lang = ? and size = ? and user = ?", [*of_class, self.user]).fetchone()
        users, others, quartiles = self.db.execute(
            f"select count(distinct user), count(*), quantile_cont(share, [0.25, 0.5]) from ({shares}) where lang = ? and size = ? and user <> ?", [*of_class, self.user]).fetchone()
        named = "" if own[:2] == (lang, size) else rf"\({re.escape(own[0])}, {own[1]} PEs\)"
        start = rf"{named}: the median of your (\d+) profiled runs? is (\S+%)"
        if users < 5:
            return self.texts("too few profiles", said, start + r"; fewer than 5 other users profiled comparable runs\.", runs, mine)
        self.texts("MPI of others", said, start + r", that of (\d+) profiled runs? of (\d+) other users is (\S+%), and a quarter of them has (\S+%) or less\.",
                   runs, mine, others, users, quartiles[1], quartiles[0])

    def programs(self, now, pe):
        rows = self.db.execute(f"select exe, count(*), min(npes), max(npes), sum(pe) as pe, {MEASURES}, count(*) filter (not well) from run "
                               "where user = ? and day >= ? and day <= ? group by exe order by pe desc limit 10", [self.user, self.since, self.until]).fetchall()
        self.line("program   ")
        self.line("program   ")
        for exe, runs, least, most, of_pe, rate, _, misses, failed in rows:
            before = self.db.execute("select sum(flop) / sum(flop_wall) from run where user = ? and exe = ? and day >= ? and day <= ?", [self.user, exe, *self.before]).fetchone()[0]
            mpi, wall = self.db.execute("select sum(mpi), sum(wall) from profile where user = ? and exe = ? and day >= ? and day <= ?", [self.user, exe, self.since, self.until]).fetchone()
            lang, size = self.db.execute(f"select lang, {SIZE} from run where user = ? and exe = ? and day >= ? and day <= ? group by 1, 2 order by sum(pe) desc limit 1",
                                         [self.user, exe, self.since, self.until]).fetchone()
            others = self.others(lang, size, "(flop / flop_wall)")
            cells = self.line(exe + " ").split() + self.line(exe + " ").split()
            pes = str(least) if least == most else f"{least}-{most}"
            change = None if not rate or not before else 100 * (rate / before - 1)
            expected = [runs, pes, hours(of_pe), percent(of_pe, pe), failed, rate, change, others and others[2][1], misses, percent(mpi, wall) if wall else None]
            if cells[6] == "new":
                expected[6] = "new"
            self.cells(f"program {exe}", cells, expected)

    def routine(self, name):
        """The cells of a routine. Columns for which there is no room are in a table below."""
        both = [(at, line) for at, line in enumerate(self.lines) if re.match(rf"(?:\(\d+\)|) +{name}(?: +\d|$)", line)]
        self.seen.update(at for at, _ in both)
        return [cell for _, line in both for cell in re.sub(r"^\(\d+\)", "", line).split()[1:]]

    def routines(self, mpi, wall, launches):
        if not launches:
            return
        of_user, who = "user = ? and day >= ? and day <= ?", [self.user, self.since, self.until]
        rows = self.db.execute("select name, sum(calls), sum(seconds) as s, sum(counted), greatest(sum(sent), sum(received)) from routine "
                               "join profile using (id) where user = ? and profile.day >= ? and profile.day <= ? group by 1 order by s desc", [self.user, self.since, self.until]).fetchall()
        ranks = self.db.execute("select sum(ranks) from profile where user = ? and day >= ? and day <= ?", [self.user, self.since, self.until]).fetchone()[0]
        self.same("MPI", self.line("MPI (").split(" of ")[0], percent(mpi, wall))
        self.same("launches", self.line("    analyzed launches with an MPI profile: "), launches)
        self.same("PEs", self.line("    sum of used PEs: "), ranks)
        self.same("routines", self.line("    used MPI routines: "), len(rows))
        for name, seconds in (("application", wall), ("MPI", mpi)):
            self.texts(name, self.line(f"    sum of {name} time: "), r"([\d.]+) s = (\S+) h", seconds, float(seconds) / 3600)
        at = next(at for at, line in enumerate(self.lines) if "sum of MPI time / sum of application time" in line)
        self.seen.add(at)
        self.same("share", re.sub(r".* = ", "", self.lines[at]), percent(mpi, wall))
        over = self.db.execute(f"select sum(regexp_extract(line, ' over=([0-9.]+)', 1)::decimal(18, 3)) from profile where {of_user}", who).fetchone()[0]
        self.texts("overhead", self.paragraph("    overhead added by the profiling: ", "time"), r"([\d.]+) s = (\S+) of the application time", over, percent(over, wall))
        calls, moved = sum(row[1] for row in rows), sum(row[4] or 0 for row in rows)
        self.cells("MPI sum", self.routine("sum")[:5], [calls, calls / ranks, mpi, float(mpi) / calls * 1e6, moved])
        total = sum(row[2] for row in rows)
        for name, calls, seconds, counted, moved in rows:
            line = next(line for line in self.lines if re.match(rf"(?:\(\d+\)|) +{name} +\d", line))
            cells = self.routine(name)
            expected = [calls, calls / ranks, seconds, float(seconds) / calls * 1e6]
            if moved is not None:
                expected += [counted, moved, moved / calls]
            self.cells(f"MPI {name}", cells[: len(expected)], expected)
            critical = seconds * 10 >= total
            if line.startswith("(") != critical:
                self.wrong.append(f"MPI {name} has {seconds} of {total} s, and is {'not ' if critical else ''}marked")
        start = next((at for at, line in enumerate(self.lines) if line.startswith("Marked: ")), None)
        if start is not None:
            end = next(at for at in range(start, len(self.lines)) if self.lines[at].endswith("%."))
            self.seen.update(range(start, end + 1))
            shown = re.findall(r"\(\d+\) (\S+) ([\d.]+%)", " ".join(self.lines[start : end + 1]))
            expected = [(row[0], percent(row[2], mpi)) for row in rows if row[2] * 10 >= mpi]
            self.same("marked", str(shown), str(expected))
        late, receivers, together, told = self.db.execute("select sum(late), sum(latercv), sum(coll), count(*) from profile where late is not null and user = ? "
                                                          "and day >= ? and day <= ?", [self.user, self.since, self.until]).fetchone()
        if told:
            of, wall = self.db.execute(f"select sum(mpi), sum(wall) from profile where late is not null and {of_user}", who).fetchone()
            self.texts("waits", self.paragraph(r"Of (?=\d+ launch)"), r"(\d+) launch(?:es)? with waits told apart: ([\d.]+) s in MPI, ([\d.]+) s in all:", told, of, wall)
            for name, seconds in (("senders that were late", late), ("receivers that were late", receivers), ("the last of a collective", together)):
                self.texts(name, self.line(f"for {name} "), r" *([\d.]+) s +(\S+) of the time in MPI", seconds, percent(seconds, of))
            # What calls that may have waited took: no line of the log has any.
            self.texts("not known", self.line("not known "), r" *([\d.]+) s +(\S+) of the time in MPI", 0, "0.00%")


def main():
    path, user, week, *logs = sys.argv[1:]
    mail = Mail(opened(logs), open(path, encoding="utf-8").read(), user, *period(week))
    mail.check()
    print(f"{user}: {mail.compared} numbers compared, {len(mail.wrong)} differ, {len(mail.left)} lines left out")
    for text in mail.wrong:
        print("  differs:", text)
    for text in mail.left:
        print("  left out:", text)
    sys.exit(1 if mail.wrong or mail.compared < 20 else 0)


if __name__ == "__main__":
    main()
