"""Computes reports of random logs by exact fractions and compares them with topas-stat.

usage: oracle.py TOPAS_STAT DIRECTORY SEED
"""

import csv
import datetime
import io
import math
import random
import re
import subprocess
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

STAT, DIRECTORY, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3])
getcontext().prec = 60
rnd = random.Random(SEED)
checked = 0


# ---- a log ------------------------------------------------------------------

def berlin(epoch):
    """Local time with daylight saving from the last Sunday of March to that of October."""
    utc = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).replace(tzinfo=None)

    def last_sunday(month):
        day = datetime.datetime(utc.year, month, 31, 1)
        return day - datetime.timedelta(days=(day.weekday() + 1) % 7)

    summer = last_sunday(3) <= utc < last_sunday(10)
    return utc + datetime.timedelta(hours=2 if summer else 1)


def seconds(micros):
    return "%d.%06d" % divmod(micros, 1_000_000)


def count(limit):
    return rnd.choice([None, 0, rnd.randrange(1000), rnd.randrange(10**rnd.randrange(1, limit)), 10**15])


class Line:
    def text(self):
        ops = "-" if self.ops is None else str(self.ops)
        sign = "~" if self.estimate else "="
        extras = " v=1 t=%d" % self.epoch
        if self.end:
            extras += " end=" + self.end
        if self.host:
            extras += " host=" + self.host
        if self.cyc is not None:
            extras += " cyc=%d ins=%d" % (self.cyc, self.ins)
        text = " ".join([
            self.local.strftime("%Y/%m/%d %H:%M:%S"), self.user, self.exe, str(self.pe),
            "-" if self.npes is None else str(self.npes),
            "-" if self.mhz is None else "t%d" % self.mhz, self.mode, self.lang, self.lib,
            seconds(self.user_time), seconds(self.sys_time), seconds(self.wall),
            self.metric + sign + ops if self.ops is not None else self.metric + "=-",
            "-" if self.miss is None else str(self.miss), self.id]) + extras
        return text + " len=%03d" % (len(text) + 8)


def run(number):
    """The lines of a run: one end, PEs of different times."""
    npes = rnd.choice([None, 1, 2, 3, 8, 64, 100, 4096, 1_000_000, rnd.randrange(1, 3000)])
    n = min(rnd.choice([1, 2, 2, 2, 3, 5]), npes or 9)
    # Days around changes of the clock, and any of ten years.
    base = rnd.choice([1_616_893_200, 1_635_642_000, 1_500_000_000 + rnd.randrange(315_000_000)])
    epoch = base + rnd.randrange(-7200, 7200)
    longest = rnd.choice([0, 1, 999_999, 10**6 * rnd.randrange(1, 100), rnd.randrange(10**11)])
    same = dict(
        npes=npes, epoch=epoch, local=berlin(epoch), user=rnd.choice(["ann", "bob", "eve", "x-y"]),
        exe=rnd.choice(["heat", "cg", "a.out"]), mhz=rnd.choice([None, 300, 450, 2596]),
        mode=rnd.choice("BI"), lang=rnd.choice(["c", "cxx", "f77", "f90", "kxx", "-"]),
        lib=rnd.choice(["mpi", "mpi", "sma", "pvm", "-"]), id="r%d" % number,
        end=rnd.choice([None, "exit:0", "exit:0", "exit:3", "abort", "sig:11", "sig:15", "sig:24"]))
    others = [None, "exit:0", "exit:3", "abort", "sig:11", "sig:15", "sig:24", "sig:1"]
    lines = []
    for pe in rnd.sample(range(npes or 9), n):
        line = Line()
        line.__dict__.update(same)
        line.pe = pe
        if rnd.random() < 0.2:
            line.end = rnd.choice(others)
        line.host = rnd.choice([None, "n1", "n2"])
        line.wall = longest - rnd.randrange(longest // 10 + 1)
        line.user_time, line.sys_time = rnd.randrange(line.wall + 2), rnd.randrange(line.wall // 5 + 2)
        line.metric = rnd.choice("fffils")
        line.ops, line.miss = count(16), count(12)
        line.estimate = line.ops is not None and rnd.random() < 0.1
        line.cyc, line.ins = rnd.choice([(None, None), (0, 5), (rnd.randrange(1, 10**15), rnd.randrange(10**15))])
        lines.append(line)
    return lines


# ---- what is asked of it -----------------------------------------------------

def ending(line):
    end = line.end
    if end is None:
        return "-"
    if end.startswith("exit:"):
        return "ok" if end == "exit:0" else "failed"
    return {"abort": "aborted", "sig:11": "fault", "sig:24": "limit", "sig:15": "with-others",
            "sig:1": "signal"}[end]


def npes_class(line):
    if line.npes is None:
        return "-"
    high = 1
    while high < line.npes:
        high *= 2
    return str(high) if high <= 2 else "%d-%d" % (high // 2 + 1, high)


def wall_class(line):
    s = Fraction(line.wall, 10**6)
    bounds = [(1, "<1s"), (10, "1-10s"), (60, "10-60s"), (600, "1-10min"), (3600, "10-60min"),
              (14400, "1-4h"), (43200, "4-12h"), (86400, "12-24h")]
    return next((name for end, name in bounds if s < end), ">=24h")


def week(line):
    year, number, _ = line.local.isocalendar()
    return "%04d-W%02d" % (year, number)


# Of the lines of a run the last of these counts.
LAST = {
    "ending": ["-", "ok", "with-others", "signal", "limit", "failed", "aborted", "fault"],
    "wall_class": ["<1s", "1-10s", "10-60s", "1-10min", "10-60min", "1-4h", "4-12h", "12-24h", ">=24h"],
}
METRICS = {"f": "fpops", "i": "intops", "l": "loads", "s": "stores"}
FIELDS = {
    "user": lambda l: l.user,
    "exe": lambda l: l.exe,
    "host": lambda l: l.host or "-",
    "lang": lambda l: l.lang,
    "lib": lambda l: l.lib,
    "mode": lambda l: l.mode,
    "cputype": lambda l: "-" if l.mhz is None else "t%d" % l.mhz,
    "npes": lambda l: "-" if l.npes is None else str(l.npes),
    "npes_class": npes_class,
    "wall_class": wall_class,
    "ending": ending,
    "metric": lambda l: METRICS[l.metric],
    "date": lambda l: l.local.strftime("%Y-%m-%d"),
    "month": lambda l: l.local.strftime("%Y-%m"),
    "week": week,
    "weekday": lambda l: "Mon Tue Wed Thu Fri Sat Sun".split()[l.local.weekday()],
    "hour": lambda l: str(l.local.hour),
    "year": lambda l: str(l.local.year),
}


def rate(metric):
    return lambda l: None if l.metric != metric or l.ops is None else (l.ops, l.wall, l.estimate)


def per_op(l):
    if l.metric != "f" or l.ops is None or l.miss is None:
        return None
    return (l.miss, l.ops, l.estimate)


# Terms of a PE, factor of a value, divisor of a sum, size of a bucket.
MEASURES = {
    "mflops": (rate("f"), 1, 1, Fraction(50)),
    "mintops": (rate("i"), 1, 1, Fraction(50)),
    "mloads": (rate("l"), 1, 1, Fraction(50)),
    "mstores": (rate("s"), 1, 1, Fraction(50)),
    "l1_per_op": (per_op, 1, 1, None),
    "l1_rate": (lambda l: None if l.miss is None else (l.miss, l.wall, False), 1, 1, Fraction(5)),
    "sys_share": (lambda l: (l.sys_time, l.sys_time + l.user_time, False), 100, 3_600_000_000, Fraction(10)),
    "cpu_use": (lambda l: (l.sys_time + l.user_time, l.wall, False), 100, 3_600_000_000, Fraction(10)),
    "pe_hours": (None, Fraction(1, 3_600_000_000), 3_600_000_000, None),
    "wall": (None, Fraction(1, 1_000_000), 3_600_000_000, None),
    "ipc": (lambda l: None if l.cyc is None else (l.ins, l.cyc, False), 1, 1, Fraction(1, 4)),
}
# Those of a run as a whole.
OF_RUN = ("pe_hours", "wall")


class Run:
    def __init__(self, lines):
        self.lines = lines
        self.first = min(lines, key=lambda l: l.pe)
        self.npes = self.first.npes or len(lines)
        self.wall = max(l.wall for l in lines)
        self.time = self.npes * self.wall

    def field(self, name):
        if name in LAST:
            return max(map(FIELDS[name], self.lines), key=LAST[name].index)
        return FIELDS[name](self.first)

    def terms(self, measure):
        if measure in OF_RUN:
            return [(self.time if measure == "pe_hours" else self.wall, 1, False)]
        return [t for t in map(MEASURES[measure][0], self.lines) if t is not None]

    def value(self, measure):
        terms = self.terms(measure)
        upper, lower = sum(t[0] for t in terms), sum(t[1] for t in terms)
        return Fraction(upper, lower) * MEASURES[measure][1] if lower else None


def number(n):
    text = "%.6f" % float(n) if n.denominator != 1 else str(n)
    return text.rstrip("0").rstrip(".") if "." in text else text


def bucket(value, measure, size, log, upper):
    if value is None:
        return "not measured"
    if upper is not None and value >= upper:
        return ">=" + number(upper)
    if log or size is None:
        if value == 0:
            return "0"
        if value < Fraction(1, 10**6):
            return "0-0.000001"
        low = Fraction(1, 10**6)
        steps = [Fraction(2), Fraction(5, 2), Fraction(2)]
        at = 0
        while value >= low * steps[at % 3]:
            low *= steps[at % 3]
            at += 1
        high = low * steps[at % 3]
    else:
        low = value // size * size
        high = low + size
    if upper is not None:
        high = min(high, upper)
    return "%s-%s" % (number(Fraction(low)), number(Fraction(high)))


def sample(runs, measure):
    """The columns of a measure as topas-stat names them."""
    valued, none, estimated = [], 0, 0
    upper = lower = total = variance = part = Fraction(0)
    pes = of = with_spread = counted = 0
    for r in runs:
        terms, value = r.terms(measure), r.value(measure)
        if value is None:
            none += 1
        else:
            valued.append(value)
            estimated += any(t[2] for t in terms)
        if not terms:
            continue
        counted += 1
        n = len(terms)
        big = 1 if measure in OF_RUN else max(r.npes, n)
        y = [t[0] for t in terms]
        extrapolated = Fraction(sum(y) * big, n)
        total += extrapolated
        if value is not None:
            upper += extrapolated
            lower += Fraction(sum(t[1] for t in terms) * big, n)
        pes, of = pes + n, of + big
        if measure not in OF_RUN and (n > 1 or n == big):
            with_spread += 1
            part += extrapolated
            if n < big:
                mean = Fraction(sum(y), n)
                s2 = sum((v - mean) ** 2 for v in y) / (n - 1)
                variance += big * big * (1 - Fraction(n, big)) * s2 / n
    factor, divisor = MEASURES[measure][1], MEASURES[measure][2]
    cells = {"runs": len(valued), "none": none, "estimated": estimated}
    cells["mean"] = upper / lower * factor if valued else None
    valued.sort()
    for name, p in (("q25", Fraction(1, 4)), ("q50", Fraction(1, 2)), ("q75", Fraction(3, 4))):
        if not valued:
            cells[name] = None
            continue
        h = (len(valued) - 1) * p
        below, above = valued[math.floor(h)], valued[math.ceil(h)]
        exact = below + (above - below) * (h - math.floor(h))
        cells[name] = exact if len(valued) <= 256 else (below, above)
    cells["quartiles_estimated"] = None if not valued else int(len(valued) > 256)
    cells["sum"] = total / divisor if counted else None
    cells["sum_pes"], cells["sum_of_pes"] = (pes, of) if counted else (None, None)
    if with_spread:
        root = (Decimal(variance.numerator) / Decimal(variance.denominator)).sqrt()
        cells["sum_error"], cells["sum_error_part"] = root / divisor, part / divisor
    else:
        cells["sum_error"] = cells["sum_error_part"] = None
    return cells


# ---- comparison ----------------------------------------------------------------

def same(ours, expected, what):
    """Equal to the last digit that is printed: nine, or all of an integer."""
    global checked
    checked += 1
    if expected is None:
        assert ours == "", (what, ours, expected)
    elif isinstance(expected, tuple):
        low, high = expected
        assert float(low) * 0.996 <= float(ours) <= float(high) * 1.004, (what, ours, expected)
    elif isinstance(expected, int):
        assert ours == str(expected), (what, ours, expected)
    else:
        if isinstance(expected, Fraction):
            expected = Decimal(expected.numerator) / Decimal(expected.denominator)
        # Half a unit of the ninth digit; a hair more where it is a tie.
        unit = Decimal(10) ** (expected.adjusted() - 8)
        off = abs(Decimal(ours) - expected)
        assert off <= unit * Decimal("0.500001"), (what, ours, expected)


def percent(part, whole, decimals):
    """Rounded half up once."""
    if whole == 0:
        return ""
    n = (Fraction(part, whole) * 100 * 10**decimals + Fraction(1, 2)) // 1
    return "%d.%0*d" % (n // 10**decimals, decimals, n % 10**decimals)


def is_log(runs, measure, options):
    """Without options: logarithmic if linear buckets are more than 24, or only one of several."""
    if "size" in options or options.get("log") or MEASURES[measure][3] is None:
        return options.get("log")
    of = lambda log: {bucket(r.value(measure), measure, MEASURES[measure][3], log, options.get("upper"))
                      for r in runs} - {"not measured"}
    linear = len(of(False))
    return linear > 24 or linear == 1 and len(of(True)) > 1


def periods(name, present):
    """All periods from the first to the last; whole days and weeks."""
    if name == "hour":
        return [str(hour) for hour in range(24)]
    if name == "weekday":
        return "Mon Tue Wed Thu Fri Sat Sun".split()
    forms = {"date": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
    if name not in forms or not present:
        return []
    parse = {"week": lambda text: datetime.datetime.strptime(text + "-1", "%G-W%V-%u")}
    parse = parse.get(name, lambda text: datetime.datetime.strptime(text, forms[name]))
    day, last, all_of_them = parse(min(present)), parse(max(present)), set()
    while day <= last:
        all_of_them.add(day.strftime(forms[name]))
        day += datetime.timedelta(days=1)
    return all_of_them


def group(runs, tables, options):
    result = {}
    for table in tables:
        names = table.split(",")
        log = {n: is_log(runs, n, options) for n in names if n in MEASURES}
        for r in runs:
            key = tuple(
                bucket(r.value(n), n, options.get("size", MEASURES[n][3]), log[n], options.get("upper"))
                if n in MEASURES else r.field(n) for n in names)
            result.setdefault((table,) + key, []).append(r)
        if len(names) == 1:
            present = [key[1] for key in result if key[0] == table]
            for name in periods(table, present):
                result.setdefault((table, name), [])
    return result


def hours(micros):
    s = (micros + 500_000) // 1_000_000
    return "%d:%02d:%02d" % (s // 3600, s // 60 % 60, s % 60)


def check(written, arguments, tables, measures=(), where=lambda line: True, since=None,
          where_run=lambda run: True, **options):
    runs = []
    for lines in written:
        lines = [l for l in lines if where(l)]
        if lines and (since is None or lines[0].local.date() >= since):
            runs.append(Run(lines))
    runs = [r for r in runs if where_run(r)]
    expected = group(runs, tables, options)
    path = DIRECTORY + "/topas.log"

    def stat(*more):
        done = subprocess.run([STAT, "-q", *arguments, *more, path], capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", (arguments, done.stderr)
        return done.stdout

    of = {}
    for key, members in expected.items():
        names = key[0].split(",")
        counts = not any(n in MEASURES and v == "not measured" for n, v in zip(names, key[1:]))
        n, t = of.get(key[0], (0, 0))
        of[key[0]] = (n + counts * len(members), t + counts * sum(r.time for r in members))

    seen = set()
    for row in csv.DictReader(io.StringIO(stat("--csv"))):
        key = (row["table"], row["name"]) + ((row["name2"],) if "," in row["table"] else ())
        seen.add(key)
        members = expected[key]
        time = sum(r.time for r in members)
        names = key[0].split(",")
        counts = not any(n in MEASURES and v == "not measured" for n, v in zip(names, key[1:]))
        total, total_time = of[key[0]] if counts else (0, 0)
        same(row["runs"], len(members), key)
        assert row["runs_percent"] == percent(len(members), total, 4), (key, row)
        assert row["pe_seconds"] == seconds(time), (key, row)
        assert row["time_percent"] == percent(time, total_time, 4), (key, row)
        for measure in measures:
            for name, cell in sample(members, measure).items():
                same(row[measure + "_" + name], cell, (key, measure, name))
    assert seen == set(expected), seen ^ set(expected)

    # The report for people: a row of shares for each, in its digits.
    # Bounds of buckets stand in columns.
    rows = {re.sub(r"(\d)- (?=\d)", r"\1-", " ".join(line.split()))
            for line in stat("--wide").splitlines()}
    for key, members in expected.items():
        names = key[0].split(",")
        counts = not any(n in MEASURES and v == "not measured" for n, v in zip(names, key[1:]))
        total, total_time = of[key[0]] if counts else (0, 0)
        time = sum(r.time for r in members)
        label = " ".join("-" if v == "not measured" else v for v in key[1:])
        cells = [label, percent(len(members), total, 2) + "%", str(len(members)),
                 percent(time, total_time, 2) + "%", hours(time)]
        line = " ".join("-" if cell == "%" else cell for cell in cells)
        assert line in rows, line
    return len(runs)


log = [run(number) for number in range(1000)]
lines = [line.text() for lines in log for line in lines]
rnd.shuffle(lines)
with open(DIRECTORY + "/topas.log", "w") as file:
    file.write("".join(line + "\n" for line in lines))

check(log, [], ["mflops", "lang", "lib"])
every = [arg for name in FIELDS for arg in ("--by", name)]
check(log, every, list(FIELDS))
ALL = ",".join(MEASURES)
check(log, ["--by", "user", "--by", "npes_class", "--by", "date", "--measure", ALL],
      ["user", "npes_class", "date"], MEASURES)
check(log, ["--by", "mflops,lang", "--by", "host,ending", "--by", "cpu_use,sys_share", "--measure", "mflops,l1_rate"],
      ["mflops,lang", "host,ending", "cpu_use,sys_share"], ["mflops", "l1_rate"])
check(log, ["--by", "mflops", "-b", "7.5", "--upper", "100"], ["mflops"],
      size=Fraction(15, 2), upper=Fraction(100))
check(log, ["--measure", ALL, "--log-scale"], list(MEASURES) + ["lang", "lib"], MEASURES, log=True)
check(log, ["--measure", ALL], list(MEASURES) + ["lang", "lib"], ["ipc"])
some = check(log, ["--where", "ops > 1M and not (lang = c or npes = -)", "--mode", "B", "--by", "user"], ["user"],
             where=lambda l: l.ops is not None and l.ops > 10**6 and l.lang != "-"
             and not (l.lang == "c" or l.npes is None) and l.mode == "B")
assert 0 < some < 700
some = check(log, ["--since", "2021-03-28", "--by", "month,weekday"], ["month,weekday"],
             since=datetime.date(2021, 3, 28))
assert 0 < some < 1000


def is_less(value, than):
    """None is neither true nor false."""
    return None if value is None else value < than


some = check(log, ["--where", "npes > 2 and mflops < 100 and wall > 1s", "--by", "exe", "--measure", "wall"], ["exe"], ["wall"],
             where_run=lambda r: r.first.npes is not None and r.npes > 2 and is_less(r.value("mflops"), 100)
             and r.wall > 10**6)
assert 0 < some < 900, some
some = check(log, ["--where", "not (mflops < 100 or month = 2021-03)", "--by", "user"], ["user"],
             where_run=lambda r: is_less(r.value("mflops"), 100) is False
             and r.first.local.strftime("%Y-%m") != "2021-03")
assert 0 < some < 900, some
some = check(log, ["--where", "host = n1 and sys_share < 9.5%", "--by", "lang"], ["lang"],
             where=lambda l: l.host == "n1", where_run=lambda r: is_less(r.value("sys_share"), Fraction(19, 2)))
assert 0 < some < 900, some
some = check(log, ["--where", "wall >= 1m or ipc = -", "--by", "lang"], ["lang"],
             where_run=lambda r: r.wall >= 60 * 10**6 or r.value("ipc") is None)
assert 0 < some < 1000, some
some = check(log, ["--where", "ending = failed or ending = with-others", "--by", "ending"], ["ending"],
             where_run=lambda r: r.field("ending") in ("failed", "with-others"))
assert 0 < some < 900, some
some = check(log, ["--where", "not ending = ok and wall_class != >=24h and mflops < 200", "--by", "wall_class"], ["wall_class"],
             where_run=lambda r: r.field("ending") not in ("ok", "-") and r.field("wall_class") != ">=24h"
             and is_less(r.value("mflops"), 200))
assert 0 < some < 900, some
print(checked)
