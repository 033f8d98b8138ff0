"""Computes the figures of the center's pages from the raw log, by DuckDB, and compares each.

usage: figures.py PAGES LOG...; PAGES is the directory that topas-report pages made of these logs.
Prints how many numbers were compared on each page, and which texts with numbers were not.
"""

import datetime
import html
import re
import sys
from decimal import ROUND_HALF_UP, Decimal
from html.parser import HTMLParser

import duckdb

# Lines of runs, by their tokens. Nothing of TOPAS is asked how a line is read.
LINES = r"""
create table raw as select line, string_split(line, ' ') as f from read_csv(?, columns = {'line': 'varchar'},
  delim = '\t', header = false, quote = '', escape = '', auto_detect = false, max_line_size = 65536);
create table line as
select strptime(f[1], '%Y/%m/%d')::date as day, f[3] as user, f[4] as exe, f[5]::bigint as pe,
  f[6]::bigint as npes, f[7] as mhz, f[9] as lang, nullif(f[10], '-') as lib,
  (f[13]::decimal(18, 6) * 1000000)::bigint as wall,
  case when f[14] like 'f=%' or f[14] like 'f~%' then try_cast(f[14][3:] as bigint) end as flop,
  try_cast(f[15] as bigint) as l1, f[16] as id,
  try_cast(regexp_extract(line, ' t=([0-9]+)', 1) as bigint) as t,
  nullif(regexp_extract(line, ' end=([^ ]+)', 1), '') as ending,
  try_cast(regexp_extract(line, ' cyc=([0-9]+)', 1) as bigint) as cyc,
  try_cast(regexp_extract(line, ' ins=([0-9]+)', 1) as bigint) as ins,
  line like '% gpu=%' as gpu
from raw where f[3] <> 'topas-mpi';

-- A launch is a run: launch ids of the log are each of one launch. Of n of N ranks that have both
-- terms of a measure the sums over them are taken for all ranks, times N / n.
create table run as
select id, arg_max(day, t) as day, any_value(user) as user, any_value(exe) as exe, max(npes) as npes,
  any_value(mhz) as mhz, any_value(lang) as lang, any_value(lib) as lib, max(wall) as wall,
  max(npes)::hugeint * max(wall) as pe, bool_or(gpu) as gpu,
  bool_and(ending = 'exit:0') as well, max(npes) / count(flop)::double * sum(flop) as flop,
  max(npes) / count(flop)::double * sum(wall) filter (flop is not null) as flop_wall,
  max(npes) * sum(l1) filter (flop is not null) / count(*) filter (flop is not null and l1 is not null)::double as l1,
  max(npes) * sum(flop) filter (l1 is not null) / count(*) filter (flop is not null and l1 is not null)::double as l1_flop,
  max(npes) / count(cyc)::double * sum(cyc) as cyc, max(npes) / count(cyc)::double * sum(ins) as ins
from line group by id;
update run set flop = null, flop_wall = null, l1 = null, l1_flop = null, cyc = null, ins = null where gpu;

create table profile as
select strptime(f[1], '%Y/%m/%d')::date as day, f[4] as user, f[5] as exe, f[7] as id, line,
  regexp_extract(line, ' ranks=([0-9]+)', 1)::bigint as ranks,
  regexp_extract(line, ' wall=([0-9.]+)', 1)::decimal(18, 3) as wall,
  regexp_extract(line, ' mpisum=([0-9.]+)', 1)::decimal(18, 3) as mpi,
  try_cast(regexp_extract(line, ' late=([0-9.]+)', 1) as decimal(18, 3)) as late,
  try_cast(regexp_extract(line, ' latercv=([0-9.]+)', 1) as decimal(18, 3)) as latercv,
  try_cast(regexp_extract(line, ' coll=([0-9.]+)', 1) as decimal(18, 3)) as coll
from raw where f[3] = 'topas-mpi';
create table routine as
select day, id, ranks, p[1] as name, p[2]::bigint as calls, p[3]::decimal(18, 3) as seconds,
  try_cast(p[5] as bigint) as counted, try_cast(p[7] as bigint) as sent, try_cast(p[9] as bigint) as received
from (select day, id, ranks, string_split(unnest(regexp_extract_all(line, ' f=([^ ]+)', 1)), ':') as p from profile);
"""

MEASURES = """sum(flop) / sum(flop_wall), sum(ins) / sum(cyc), sum(l1) filter (l1_flop > 0) / sum(l1_flop) filter (l1_flop > 0)"""


def percent(part, whole):
    """As people are shown a share: half up, to a hundredth."""
    if not whole:
        return "-"
    text = str((Decimal(part) * 100 / Decimal(whole)).quantize(Decimal("0.01"), ROUND_HALF_UP))
    return "<0.01%" if text == "0.00" and part else text + "%"


def hours(micros):
    return str((Decimal(int(micros)) / Decimal(3_600_000_000)).quantize(Decimal("0.01"), ROUND_HALF_UP))


def number(text):
    """The value of a number with its unit, or None."""
    text = re.sub(r"(?<=\d) (?=\d{3})", "", text.strip())
    found = re.fullmatch(r"([-+]?[\d.]+(?:e[-+]?\d+)?)(?: ?(?:%|s|h|PE-h))?", text)
    return float(found[1]) if found else None


class Parts(HTMLParser):
    """Sections of a page: sentences, notes, rows of tables and descriptions of pictures."""

    def __init__(self, text):
        super().__init__()
        self.sections, self.now, self.into = {}, None, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "section":
            self.now = self.sections[attrs["aria-labelledby"]] = {"p": [], "rows": [], "desc": [], "note": []}
        elif self.now is None:
            return
        elif tag == "p":
            self.into = "note" if attrs.get("class") == "note" else "p"
            self.now[self.into].append("")
        elif tag == "tr":
            self.now["rows"].append([])
        elif tag in ("th", "td"):
            self.now["rows"][-1].append("")
            self.into = "rows"
        elif tag == "desc":
            self.now["desc"].append("")
            self.into = "desc"

    def handle_endtag(self, tag):
        if tag in ("p", "th", "td", "desc"):
            self.into = None
        if tag == "section":
            self.now = None

    def handle_data(self, data):
        if self.now is None or self.into is None:
            return
        if self.into == "rows":
            self.now["rows"][-1][-1] += data
        else:
            self.now[self.into][-1] += data


class Page:
    def __init__(self, db, path, since, until, before):
        self.db, self.since, self.until, self.before = db, since, until, before
        # Pages set thousands apart.
        text = re.sub(r"(?<=\d)\u202f(?=\d{3})", "", open(path, encoding="utf-8").read())
        self.parts = Parts(text).sections
        self.compared, self.wrong, self.left = 0, [], []

    def all(self, sql, table="run"):
        where = f"day >= date '{self.since}' and day <= date '{self.until}'"
        return self.db.execute(sql.replace("FROM", f"from (select * from {table} where {where})")).fetchall()

    def one(self, sql, table="run"):
        return self.all(sql, table)[0]

    def same(self, what, shown, expected):
        """A text with one number, to the digits that are shown; or the same text."""
        self.compared += 1
        if isinstance(expected, str):
            good = shown.strip() == expected
        elif expected is None:
            good = shown.strip() in ("-", "")
        else:
            value = number(shown)
            digits = re.sub(r"[^\d.].*", "", shown.strip().lstrip("+-"))
            places = len(digits.split(".")[1]) if "." in digits else 0
            mantissa = re.search(r"e([-+]?\d+)", shown)
            unit = 10.0 ** (-places + (int(mantissa[1]) if mantissa else 0))
            good = value is not None and abs(value - float(expected)) <= 0.5001 * unit + 1e-9 * abs(float(expected))
        if not good:
            self.wrong.append(f"{what}: shown {shown!r}, by DuckDB {expected!r}")

    def texts(self, what, text, pattern, *expected):
        """The numbers of a sentence, by a pattern with a group for each."""
        found = re.fullmatch(pattern, text.strip())
        if not found:
            self.wrong.append(f"{what}: another sentence: {text}")
            return
        for shown, of in zip(found.groups(), expected, strict=True):
            # A part of the sentence may be left out.
            if shown is not None:
                self.same(what, shown, of)

    def check(self):
        self.summary()
        self.course()
        self.rates()
        self.per_run()
        self.sizes()
        self.people("users", "user")
        self.people("programs", "exe")
        self.user_rates()
        self.mpi()
        self.slower()

    def rows(self, part):
        return self.parts[part]["rows"][1:]

    def summary(self):
        runs, users, exes, pe = self.one("select count(*), count(distinct user), count(distinct exe), sum(pe) FROM")
        by_user = [row[0] for row in self.all("select sum(pe) as pe FROM group by user order by pe desc")]

        def leaders(share):
            have = 0
            for at, part in enumerate(by_user, 1):
                have += part
                if have * 100 >= pe * share:
                    return at, percent(have, pe)

        half, most = leaders(50), leaders(95)
        first = "one user" if half[0] == 1 else f"{half[0]} users"
        self.texts("summary", self.parts["summary"]["p"][0], r"(\d+) runs? of (\d+) users? used ([\d.]+) PE-h; (.*%) of it is of (.*)\.",
                   runs, users, hours(pe), half[1], first)
        failed, known = self.one("select count(*) filter (not well), count(well) FROM")
        mean, weighted = self.one("select avg(npes), sum(npes::double * pe) / sum(pe) FROM")
        shown = dict(self.rows("summary"))
        self.same("runs", shown.pop("analyzed runs"), runs)
        self.same("PE-hours", shown.pop("PE-hours"), hours(pe) + " PE-h")
        self.same("users", shown.pop("users"), users)
        self.same("programs", shown.pop("programs"), exes)
        self.texts("PEs", shown.pop("PEs per run"), r"(.*), (.*) weighted by time", mean, weighted)
        for share, (at, have) in ((50, half), (95, most)):
            self.same("leaders", shown.pop(f"users with {share}% of the PE-hours"), f"the first {at} have {have}")
        unknown = r"; of (\d+) runs? it is not known" if runs > known else "()"
        self.texts("failed", shown.pop("failed runs"), rf"(\d+) of (\d+), (.*?){unknown}", failed, known, percent(failed, known), runs - known or "")
        for what, column in (("language", "lang"), ("MP library", "coalesce(lib, '-')")):
            for name, of_pe, of_runs in self.all(f"select {column}, sum(pe) as pe, count(*) FROM group by 1 order by pe desc limit 6"):
                cell = shown.pop(f"{what} {'none' if name == '-' else name}", "")
                self.same(what, cell, f"{percent(of_pe, pe)} of the PE-hours, {percent(of_runs, runs)} of the runs")
        launches, wall, mpi = self.one("select count(*), sum(wall), sum(mpi) FROM", "profile")
        if launches:
            self.same("profiled", shown.pop("profiled launches"), f"{launches}, {percent(wall * 1_000_000, pe)} of the PE-hours")
            self.texts("in MPI", shown.pop("time in MPI"), r"(\d+) s = (.*) of the profiled time", mpi, percent(mpi, wall))
            lost, of, told = self.one("select sum(late + latercv + coll), sum(wall), count(*) FROM where late is not null", "profile")
            if told:
                self.texts("waits", shown.pop("waiting for other ranks"), r"(\d+) s = (.*) of the time of the (\d+) launches that told waits apart",
                           lost, percent(lost, of), told)
            self.same("routines", shown.pop("used MPI routines"), self.one("select count(distinct name) FROM", "routine")[0])
        used = shown.pop("share of the machine")
        if "capacity is not set" not in used:
            days = (self.until - self.since).days + 1
            had = sum(int(n) * int(m) for n, m in re.findall(r"(\d+)x(\d+)", CAPACITY)) * days * 24
            self.texts("machine", used, r"(.*) of ([\d.]+) PE-h that it had", percent(pe, had * 3_600_000_000), had)
        shown.pop("time")
        self.left += [f"summary: {name}: {value}" for name, value in shown.items()]

    def bars(self, part, expected, whole, unit="%"):
        """The description of a picture: each bar is named with its share."""
        for text in dict.fromkeys(self.parts[part]["desc"]):
            body = text.split(": ", 1)[1]
            body = re.sub(r"^the largest \d+ of \d+ bars: ", "", body).split(". ")[0].rstrip(".")
            for bar in body.split("; "):
                name, shown = bar.replace("\u202f", " ").rsplit(": ", 1)
                if name not in expected:
                    self.left.append(f"{part}: bar {bar}")
                    continue
                value = expected[name]
                if shown.startswith("<"):
                    self.compared += 1
                    share = 100.0 * float(value) / float(whole)
                    if not 0 < share < float(number(shown[1:])):
                        self.wrong.append(f"{part}: bar {bar}, by DuckDB {share}")
                else:
                    self.same(f"{part}: bar {name}", shown.removesuffix(unit).strip(), 100.0 * float(value) / float(whole) if whole else value)

    def course(self):
        step = "day" if (self.until - self.since).days <= 62 else "month"
        form = "%Y-%m-%d" if step == "day" else "%Y-%m"
        passed = self.all(f"select strftime(day, '{form}'), sum(pe) as pe FROM group by 1 order by pe")
        pe = sum(row[1] for row in passed)
        self.texts("course", self.parts["course"]["p"][0], rf"The {step} with the most PE-hours is (\S+) \(([\d.]+) PE-h\), that with the least (\S+) \(([\d.]+) PE-h\)\.",
                   passed[-1][0], hours(passed[-1][1]), passed[0][0], hours(passed[0][1]))
        self.bars("course", dict(passed), pe)

    @staticmethod
    def bounds(name):
        low, _, high = name.replace(" ", "").partition("–")
        return (float(low), float(high)) if high else None

    def histogram(self, part, value, weight, condition):
        """Shares by the buckets that the picture names."""
        names = set(re.findall(r"([\d. e+-]+–[\d. e+-]+): ", " ; ".join(self.parts[part]["desc"]).replace("\u202f", " ")))
        names = {name.strip() for name in names}
        whole = self.one(f"select sum({weight}) FROM where {condition}")[0]
        expected = {}
        for name in names:
            low, high = self.bounds(name)
            expected[name] = self.one(f"select coalesce(sum({weight}), 0) FROM where {condition} and {value} >= {low} and {value} < {high}")[0]
        self.bars(part, expected, whole)
        return whole

    def middle(self, value, weight, condition, bound):
        """Whether a bound is the first edge of the buckets 1, 2, 5, 10 below which half of the weight lies."""
        whole = self.one(f"select sum({weight}) FROM where {condition}")[0]
        below = lambda edge: self.one(f"select coalesce(sum({weight}), 0) FROM where {condition} and {value} < {edge}")[0]
        mantissa = f"{bound:e}"[0]
        less = bound / (2.5 if mantissa == "5" else 2)
        return below(bound) * 2 >= whole > below(less) * 2

    def rates(self):
        rate = "(flop / flop_wall)"
        for part, column, what in (("rates-lang", "lang", "language"), ("rates-cpu", "mhz", "type of processor"), ("rates-lib", "coalesce(lib, '-')", "message passing library")):
            with_rate = "flop is not null and flop_wall > 0"
            self.histogram(part, rate, "1", with_rate)
            rows = self.all(f"select {column}, sum(pe) as pe FROM where {with_rate} group by 1 order by pe desc")
            pe = sum(row[1] for row in rows)
            found = re.fullmatch(r"Half of the PE-hours are of runs with less than (\S+) MFlop/s per PE\. By .*?, (\S+) has the most PE-hours, (.*%)\.", self.parts[part]["p"][0])
            if not found:
                self.wrong.append(f"{part}: another sentence: {self.parts[part]['p'][0]}")
                continue
            self.same(part, found[2], rows[0][0])
            self.same(part, found[3], percent(rows[0][1], pe))
            self.compared += 1
            if not self.middle(rate, "pe", with_rate, float(found[1])):
                self.wrong.append(f"{part}: half of the PE-hours are not below {found[1]}")

    def per_run(self):
        of = "(pe / 3600000000.0)"
        self.histogram("hours", of, "pe", "true")
        found = re.fullmatch(r"Half of the runs take less than (\S+) PE-h, but half of the PE-hours are of runs of up to (\S+) PE-h\.", self.parts["hours"]["p"][0])
        for weight, bound in (("1", found[1]), ("pe", found[2])):
            self.compared += 1
            if not self.middle(of, weight, "true", float(bound)):
                self.wrong.append(f"hours: half of {weight} is not below {bound}")

    def sizes(self):
        bucket = "case when npes <= 2 then npes::text else (2 ** (ceil(log2(npes)) - 1) + 1)::bigint || '-' || (2 ** ceil(log2(npes)))::bigint end"
        rows = self.all(f"select {bucket}, count(*), sum(pe), {MEASURES} FROM group by 1")
        runs, pe = sum(row[1] for row in rows), sum(row[2] for row in rows)
        by_name = {row[0]: row for row in rows}
        self.same("sizes", str(len(self.rows("sizes"))), len(rows))
        for name, *cells in self.rows("sizes"):
            _, of_runs, of_pe, rate, *_ = by_name[name]
            self.cells(f"sizes {name}", cells, [of_runs, percent(of_runs, runs), hours(of_pe), percent(of_pe, pe), rate])
        most = max(rows, key=lambda row: row[2])
        self.texts("sizes", self.parts["sizes"]["p"][0], r"Most of the PE-hours, (.*%), are of runs on (\S+) PEs; these are (.*%) of the runs\.",
                   percent(most[2], pe), most[0], percent(most[1], runs))

    def cells(self, what, shown, expected):
        for cell, of in zip(shown, expected, strict=True):
            self.same(what, cell, of)

    def people(self, part, column):
        rows = self.all(f"select {column}, count(*), sum(pe) as pe, {MEASURES}, count(*) filter (not well), count(well) FROM group by 1 order by pe desc, 1")
        runs, pe = sum(row[1] for row in rows), sum(row[2] for row in rows)
        times = {name: percent(mpi, wall) for name, mpi, wall in self.all(f"select {column}, sum(mpi), sum(wall) FROM group by 1", "profile")}
        self.same(part, str(len(self.rows(part))), min(50, len(rows)))
        for (name, *cells), row in zip(self.rows(part), rows):
            of, of_runs, of_pe, rate, ipc, l1, failed, known = row
            self.same(part, name, of)
            self.cells(f"{part} {name}", cells[:-1], [of_runs, percent(of_runs, runs), hours(of_pe), percent(of_pe, pe), rate, ipc, l1, times.get(of)])
            self.same(f"{part} {name} failed", cells[-1], percent(failed, known))
        one = {"users": "user", "programs": "program"}[part]
        large = sum(1 for row in rows if row[2] > pe // 200)
        self.texts(part, self.parts[part]["p"][0], rf"(\S+) used the most, (.*%) of the PE-hours; (\d+) {one}s? used more than half a percent each\.",
                   rows[0][0], percent(rows[0][2], pe), large)
        self.bars(part, {row[0]: row[2] for row in rows}, pe)
        rest = rows[50:]
        for note in self.parts[part]["note"]:
            if "more" in note and "not shown" in note:
                self.texts(part, note, rf"(\d+) {one}s? more with (.*%) of the PE-hours are not shown; topas-stat --by \S+ has all\.",
                           len(rest), percent(sum(row[2] for row in rest), pe))

    def user_rates(self):
        rows = self.all("select user, sum(pe) as pe, sum(flop) / sum(flop_wall) as rate FROM group by 1 order by pe desc, 1 limit 16")
        rated = sorted((row for row in rows if row[2] is not None), key=lambda row: -row[2])
        self.texts("user-rates", self.parts["user-rates"]["p"][0], r"Of the (\d+) users? with the most PE-hours, (\S+) reaches (\S+) MFlop/s per PE and (\S+) (\S+)\.",
                   len(rated), rated[0][0], rated[0][2], rated[-1][0], rated[-1][2])
        self.bars("user-rates", {row[0]: row[2] for row in rated}, 0, " MFlop/s per PE")

    def mpi(self):
        rows = self.all("select name, sum(calls), sum(seconds) as s, sum(counted), greatest(sum(sent), sum(received)) FROM group by 1 order by s desc, 1", "routine")
        if not rows:
            return
        ranks = self.one("select sum(ranks) FROM", "profile")[0]
        seconds = sum(row[2] for row in rows)
        by_name = {row[0]: row for row in rows}
        for name, *cells in self.rows("mpi"):
            name = name.removesuffix(" *")
            if name == "sum":
                calls, moved = sum(row[1] for row in rows), sum(row[4] or 0 for row in rows)
                mpi = self.one("select sum(mpi) FROM", "profile")[0]
                self.cells("mpi sum", cells[:6], [calls, calls / ranks, mpi, float(mpi) / calls * 1e6, None, moved])
                continue
            if name not in by_name:
                self.left.append(f"mpi: {name}: {' | '.join(cells)}")
                continue
            _, calls, time, counted, moved = by_name[name]
            per_call = None if moved is None else moved / calls
            self.cells(f"mpi {name}", cells[:7], [calls, calls / ranks, time, float(time) / calls * 1e6, counted, moved, per_call])
            self.left += [f"mpi: {name}: {cell}" for cell in cells[7:] if cell not in ("", "-")]
        self.texts("mpi", self.parts["mpi"]["p"][0], r"([\d.]+)% of the time in MPI is spent in (\S+); (\d+) routines have ([\d.]+)% of it\.",
                   100 * float(rows[0][2]) / float(seconds), rows[0][0],
                   sum(1 for row in rows if row[2] >= seconds * Decimal("0.003")),
                   100 * float(sum(row[2] for row in rows if row[2] >= seconds * Decimal("0.003"))) / float(seconds))
        other = sum(row[2] for row in rows if row[2] < seconds * Decimal("0.003"))
        bars = {row[0]: float(row[2]) / 3600 for row in rows} | {"other": float(other) / 3600}
        self.bars("mpi", bars, 0, " h")
        launches, wall = self.one("select count(*), sum(wall) FROM", "profile")
        self.texts("groups", self.parts["mpi-groups"]["note"][0], r"100% are (\d+) launches with an MPI profile\.", launches)
        groups = {"blocking point to point": ("Send", "Recv"), "nonblocking point to point": ("Isend", "Irecv"), "collective": ("Allreduce", "Bcast", "Barrier")}
        for name, *cells in self.rows("mpi-groups"):
            if name not in groups:
                self.left.append(f"groups: {name}")
                continue
            of = ", ".join(f"'{routine}'" for routine in groups[name])
            count, time = self.one(f"select count(*), sum(wall) FROM where id in (select id from routine where name in ({of}))", "profile")
            self.cells(f"group {name}", cells, [count, percent(count, launches), percent(time, wall)])

    def slower(self):
        since, until = self.before
        for exe, user, measure, *cells in self.rows("slower"):
            sides = []
            for first, last in ((self.since, self.until), (since, until)):
                sides.append(self.db.execute(
                    "select sum(flop) / sum(flop_wall), avg(wall) / 1e6, count(*), sum(pe), count(flop) from run "
                    "where user = ? and exe = ? and day >= ? and day <= ?", [user, exe, first, last]).fetchone())
            at = 1 if measure.startswith("Wall") else 0
            now, before = sides[0][at], sides[1][at]
            of = 2 if at else 4
            self.cells(f"slower {exe} {user}", cells, [now, before, 100 * (now / before - 1), sides[0][of], sides[1][of], hours(sides[0][3])])
        found = re.match(r"(\d+) programs of users are", self.parts["slower"]["p"][0])
        if found:
            self.same("slower", found[1], len({(row[0], row[1]) for row in self.rows("slower")}))


CAPACITY = ""


def period(name):
    """First and last day of a week, month or year, and those of the time before."""
    if "W" in name:
        first = datetime.date.fromisoformat(name + "-1")
        last = first + datetime.timedelta(6)
    elif "-" in name:
        first = datetime.date.fromisoformat(name + "-01")
        last = (first + datetime.timedelta(32)).replace(day=1) - datetime.timedelta(1)
    else:
        first, last = datetime.date(int(name), 1, 1), datetime.date(int(name), 12, 31)
    days = (last - first).days + 1
    return first, last, (first - datetime.timedelta(4 * days), first - datetime.timedelta(1))


def opened(logs):
    """A database with the tables of these logs."""
    db = duckdb.connect()
    for statement in LINES.split(";"):
        if statement.strip():
            db.execute(statement, [logs] if "?" in statement else None)
    return db


def main():
    global CAPACITY
    pages, *logs = sys.argv[1:]
    try:
        CAPACITY = open(f"{pages}/../topas.conf").read()
    except FileNotFoundError:
        pass
    db = opened(logs)
    failed = False
    for name in re.findall(r'<a href="([^"]*)\.html">', open(f"{pages}/index.html", encoding="utf-8").read()):
        page = Page(db, f"{pages}/{name}.html", *period(name))
        page.check()
        print(f"{name}: {page.compared} numbers compared, {len(page.wrong)} differ, {len(page.left)} texts left out")
        for text in page.wrong:
            print("  differs:", html.unescape(text))
        for text in page.left:
            print("  left out:", text)
        failed = failed or page.wrong or page.compared < 100
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
