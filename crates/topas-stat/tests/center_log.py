"""A log with every kind of dirt, the same log as tables of DuckDB, and comparing: for the scripts beside this one."""

import csv
import io
import json
import random
import subprocess

import duckdb


def with_length(text):
    """The line with its length, in three digits, as the last of its words."""
    text = text[:text.rindex(b" len=")]
    return text + b" len=%03d" % (len(text) + 8)


def changed(line, at, word):
    """The line with another word at this place."""
    words = line.split(b" ")
    words[at] = word
    return with_length(b" ".join(words))


def extra(line, key):
    """The value of an extra; None if the line has none."""
    return next((word[len(key) + 1:] for word in line.split(b" ")[16:] if word.startswith(key + b"=")), None)


def with_extra(line, key, value):
    """The line with another value of this extra, which it has."""
    words = line.split(b" ")
    return with_length(b" ".join(key + b"=" + value if word.startswith(key + b"=") else word for word in words))


class Question:
    """Asks topas-stat about files, and DuckDB about tables, and counts the figures that were compared."""

    def __init__(self, tool, database, files, text=None):
        self.tool, self.database, self.files, self.text = tool, database, files, text
        self.figures = 0

    def sql(self, query):
        return self.database.execute(query).fetchall()

    def stat(self, *arguments):
        result = subprocess.run([self.tool, *arguments, *self.files], input=self.text, capture_output=True)
        assert result.returncode == 0, (arguments, result.returncode, result.stderr)
        return result.stdout.decode()

    def report(self, *arguments):
        return json.loads(self.stat(*arguments, "--json"))

    def rows_of(self, *arguments):
        return self.report(*arguments)["tables"][0]["rows"]

    def table(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.stat(*arguments, "--csv"))))

    def check(self, question, ours, theirs, tolerance=2e-8):
        """Both are rows of texts and numbers, in any order, or in this one if they are tuples."""
        if isinstance(ours, list):
            key = lambda row: [str(cell) for cell in row if isinstance(cell, str) or cell is None]
            ours, theirs = sorted(ours, key=key), sorted(theirs, key=key)
        assert len(ours) == len(theirs), (question, len(ours), len(theirs), ours[:3], theirs[:3])
        assert ours, question
        for own, other in zip(ours, theirs):
            assert len(own) == len(other), (question, own, other)
            for one, two in zip(own, other):
                assert is_same(one, two, tolerance), (question, own, other)
                self.figures += 1


def is_same(one, other, tolerance):
    if one is None or other is None or isinstance(one, str) or isinstance(other, str):
        return one == other
    one, other = float(one), float(other)
    return abs(one - other) <= tolerance * max(abs(one), abs(other))


def tables(text):
    """DuckDB with the tables `line` (its words), `told` (what each line tells) and `run`, of the text of a log.

    A line counts if its length is what it says of itself and no byte of it is a control character.
    """
    db = duckdb.connect()
    # One character for each byte, and none that ends a line but a newline.
    text = text.decode("latin-1").replace("\r", "\x02").replace("\0", "\x02")
    lines = [(line,) for line in set(text.split("\n")) if line]
    db.execute("create table raw (l varchar)")
    db.execute("insert into raw select unnest(?)", [[line for line, in lines]])
    db.execute("""
create table whole as select distinct l from (
    -- A whole line can stand behind what was there before it.
    select right(l, try_cast(right(l, 3) as int)) as l from raw)
  where regexp_matches(l, '^[0-9]{4}/[0-9]{2}/[0-9]{2} .* len=[0-9]{3}$') and right(l, 3)::int = length(l)
    and length(l) < 1000 and not regexp_matches(l, '[\x01-\x1f\x7f]')
""")
    db.execute("create table line as select l, string_split(l, ' ') as f from whole where string_split(l, ' ')[3] != 'topas-mpi'")
    db.execute(r"""
create table told as
  select f[16] as id, f[5]::bigint as pe, f[6]::bigint as npes, f[3] as usr, f[4] as exe, f[8] as mode,
         f[9] as lang, f[7] as cputype, strptime(f[1] || ' ' || f[2], '%Y/%m/%d %H:%M:%S') as ended,
         (f[13]::decimal(18, 6) * 1000000)::hugeint as wall_us,
         (f[11]::decimal(18, 6) * 1000000)::hugeint as user_us,
         (f[12]::decimal(18, 6) * 1000000)::hugeint as sys_us,
         case when regexp_matches(f[14], '^f=[0-9]') then f[14][3:]::hugeint end as flop,
         case when regexp_matches(f[15], '^[0-9]+$') then f[15]::hugeint end as l1,
         nullif(regexp_extract(l, ' uid=([^ ]+)', 1), '') as uid,
         nullif(regexp_extract(l, ' host=([^ ]+)', 1), '') as host,
         nullif(regexp_extract(l, ' job=([^ ]+)', 1), '') as job,
         nullif(regexp_extract(l, ' part=([^ ]+)', 1), '') as part,
         nullif(regexp_extract(l, ' gpu=([^ ]+)', 1), '') as gpu,
         nullif(regexp_extract(l, ' end=([^ ]+)', 1), '') as ending,
         nullif(regexp_extract(l, ' mpi=([^ ]+)', 1), '') as mpi,
         nullif(regexp_extract(l, ' cc=([^ ]+)', 1), '') as cc,
         nullif(regexp_extract(l, ' why=([^ ]+)', 1), '') as why,
         nullif(regexp_extract(l, ' thr=([0-9]+)', 1), '')::hugeint as thr,
         nullif(regexp_extract(l, ' cyc=([0-9]+)', 1), '')::hugeint as cyc,
         nullif(regexp_extract(l, ' ins=([0-9]+)', 1), '')::hugeint as ins,
         nullif(regexp_extract(l, ' rss=([0-9]+)', 1), '')::hugeint as rss,
         nullif(regexp_extract(l, ' t=([0-9]+)', 1), '')::bigint as t
  from line
""")
    db.execute(RUNS.format(name="run", where="true"))
    db.execute("update run set mflops = null, ipc = null, l1_per_op = null where accelerated")
    return db


# The runs of lines for which a condition is true.
RUNS = r"""
create table {name} as
  select id, uid, npes, max(wall_us) as wall, npes * max(wall_us) as micros,
         arg_min(usr, pe) as usr, arg_min(exe, pe) as exe, arg_min(lang, pe) as lang,
         arg_min(mode, pe) as mode, arg_min(cputype, pe) as cputype, arg_min(part, pe) as part,
         arg_min(job, pe) as job, arg_min(ended, pe) as day, arg_min(gpu, pe) as gpu,
         arg_min(mpi, pe) as mpi, arg_min_null(host, pe) as host, arg_min(cc, pe) as cc, arg_min_null(why, pe) as why,
         max(t) as t, max(rss) as memory, count(*) as lines,
         bool_or(gpu is not null) as accelerated,
         bool_or(ending != 'exit:0') as failed,
         sum(flop)::double / sum(wall_us) filter (flop is not null) as mflops,
         sum(flop) as flop, sum(wall_us) filter (flop is not null) as flop_wall, count(flop) as flop_pes,
         sum(sys_us) as sys_sum, sum(user_us + sys_us) as cpu_sum, sum(wall_us) as wall_sum,
         100 * sum(sys_us)::double / sum(sys_us + user_us) as sys_share,
         100 * sum(user_us + sys_us)::double / sum(wall_us) as cpu_use,
         sum(ins)::double / sum(cyc) as ipc,
         sum(l1) filter (flop is not null)::double / nullif(sum(flop) filter (l1 is not null), 0) as l1_per_op
  from told where {where} group by id, uid, npes
"""
