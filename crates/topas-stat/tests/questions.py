"""Puts questions of a center to topas-stat, each by one command, and to DuckDB on the same text.

usage: questions.py TOPAS_STAT LOG clean|dirty
"""

import random
import sys

from center_log import Question, changed, tables, with_length

STAT, LOG, STATE = sys.argv[1:4]
rnd = random.Random(5)


# ---- the log, with programs that use accelerators, and with dirt --------------

def accelerated(line):
    if int(line.split(b" ")[15], 16) // 2**21 % 13:
        return line
    return with_length(line.replace(b" host=", b" gpu=cuda host="))


def dirty(lines):
    """Cut lines, bytes of anything, future days, lines that are there twice or of another user."""
    out = []
    for line in lines:
        lot = rnd.randrange(100)
        if lot < 2:
            out.append(line[:rnd.randrange(1, len(line) - 1)])
        elif lot < 4:
            at = rnd.randrange(len(line))
            out.append(line[:at] + bytes(rnd.choice(b"\x00\x01\x7f\xfe\xff") for _ in range(9)) + line[at:])
        elif lot < 5:
            out += [line, bytes(rnd.choice(b"\x00\x02\x1b\x80\xf0\xff") for _ in range(200))]
        elif lot < 7:
            out += [line, line]
        elif lot < 9:
            uid = next(word for word in line.split(b" ") if word.startswith(b"uid="))
            other = changed(line.replace(uid, b"uid=66666"), 2, b"mallory")
            out += [line, other]
        elif lot < 10:
            epoch = next(word for word in line.split(b" ") if word.startswith(b"t="))
            # Seven years of which two are leap years, to the same second of the day.
            future = b"t=%d" % (int(epoch[2:]) + 86_400 * (5 * 365 + 2 * 366))
            day = b"2033" + line.split(b" ")[0][4:]
            future = changed(line.replace(epoch, future), 0, day)
            out += [line, changed(future, 15, b"f" + future.split(b" ")[15])]
        else:
            out.append(line)
    return out


with open(LOG, "rb") as file:
    lines = [accelerated(line) for line in file.read().splitlines()]
if STATE == "dirty":
    lines = dirty(lines)
text = b"\n".join(lines) + b"\n"


ask = Question(STAT, tables(text), [], text)
check, sql, rows_of, table, report = ask.check, ask.sql, ask.rows_of, ask.table, ask.report


# ---- the questions ---------------------------------------------------------------

check("Who uses the machine most?",
      tuple((row["name"], row["runs"], row["pe_seconds"])
            for row in rows_of("--by", "user", "--sort", "time", "--top", "10") if row.get("name") and "other (" not in row["name"]),
      tuple(sql("select usr, count(*), sum(micros) / 1e6 from run group by usr order by sum(micros) desc limit 10")))

check("How many users, jobs and programs does each partition have?",
      [(row["name"], *(row["figures"][name]["number"] for name in ("users", "jobs", "exes")))
       for row in rows_of("--by", "part", "--measure", "users,jobs,exes")],
      sql("select part, count(distinct usr), count(distinct job), count(distinct exe) from run group by part"))

check("Which programs fail most often, and how sure is the rate?",
      [(row["name"], row["figures"]["failures"]["failed"], row["figures"]["failures"]["known"],
        row["figures"]["failures"]["low"], row["figures"]["failures"]["high"])
       for row in rows_of("--by", "exe", "--measure", "failures")],
      sql("""with n as (select exe, count(*) filter (failed) as k, count(*) filter (failed is not null) as n,
                            1.959963984540054 as z from run group by exe),
             p as (select *, k / n as p from n)
             select exe, k, n,
               100 * greatest(0, (p + z*z/(2*n) - z*sqrt(p*(1-p)/n + z*z/(4*n*n))) / (1 + z*z/n)),
               100 * least(1, (p + z*z/(2*n) + z*sqrt(p*(1-p)/n + z*z/(4*n*n))) / (1 + z*z/n)) from p"""))

check("How does the share of each language change from month to month?",
      [(row["name"], row["name2"], row["runs"], row["of_runs"], row["pe_seconds"], row["of_pe_seconds"])
       for row in table("--by", "month,lang", "--percent", "row")],
      [(month, lang, str(runs), str(of), f"{micros // 10**6}.{micros % 10**6:06}", f"{all_ // 10**6}.{all_ % 10**6:06}")
       for month, lang, runs, of, micros, all_ in
       sql("""with part as (select strftime(day, '%Y-%m') as month, lang, count(*) as runs, sum(micros) as micros
                          from run group by all),
                  whole as (select month, sum(runs) as of, sum(micros) as all_ from part group by month)
             select month, lang, runs, of::bigint, micros::hugeint, all_::hugeint from part join whole using (month)""")])

large = report("--where", "npes > 64 and mflops < 400 and wall > 1h", "--by", "exe")
check("Which large and long runs compute little, and which were set aside?",
      [("all", large["runs"], large["pe_seconds"], large["not_selected"]["accelerated"])],
      [("all", *sql("select count(*), sum(micros) / 1e6 from run where npes > 64 and mflops < 400 and wall > 3600e6")[0],
        sql("""select count(*) from (select id, uid, max(npes) as n, max(wall_us) as w, bool_or(gpu is not null) as g,
               sum(flop)::double / sum(wall_us) filter (flop is not null) as m from told group by id, uid, npes)
               where g and n > 64 and w > 3600e6 and m < 400""")[0][0])])

check("Which were the largest runs?",
      tuple((row["id"], float(row["wall"]), float(row["pe_hours"]))
            for row in table("--runs", "--sort", "pe_hours", "--top", "10", "--columns", "id,wall,pe_hours")),
      tuple(sql("select id, wall / 1e6, micros / 3.6e9 from run order by micros desc, t desc limit 10")))

check("Which runs of a program were the slowest on 64 PEs?",
      tuple((row["id"], float(row["mflops"])) for row in
            table("--runs", "--where", "exe = md_bio and npes = 64 and mflops != -", "--sort", "mflops",
                  "--reverse", "--top", "10", "--columns", "id,mflops")),
      tuple(sql("""select id, mflops from run where exe = 'md_bio' and npes = 64 and mflops is not null
                   order by mflops, t desc limit 10""")))

check("How long do runs of each program take?",
      [(row["name"], row["measures"]["wall"]["runs"], row["measures"]["wall"]["mean"], row["measures"]["wall"]["sum"])
       for row in rows_of("--by", "exe", "--measure", "wall")],
      sql("select exe, count(*), avg(wall) / 1e6, sum(wall) / 3.6e9 from run group by exe"))

check("What is the median rate of each program that has few runs?",
      [(row["name"], row["measures"]["mflops"]["q25"], row["measures"]["mflops"]["q50"], row["measures"]["mflops"]["q75"])
       for row in rows_of("--by", "exe", "--measure", "mflops", "--period", "2026-10-05")
       if row["measures"]["mflops"]["runs"]],
      [row for row in sql("""select exe, quantile_cont(mflops, 0.25), quantile_cont(mflops, 0.5), quantile_cont(mflops, 0.75)
             from run where day::date = '2026-10-05' group by exe""") if row[1] is not None])

check("How much of the time do programs with accelerators take?",
      [(row["name"], row["runs"], row["pe_seconds"]) for row in rows_of("--by", "gpu", "--measure", "wall,pe_hours")],
      sql("select coalesce(gpu, '-'), count(*), sum(micros) / 1e6 from run group by gpu"))

check("At which hours do runs end?",
      [(row["name"], row["runs"], row["pe_seconds"]) for row in rows_of("--by", "hour")],
      [(str(hour), runs, seconds) for hour, runs, seconds in
       sql("select hour(day), count(*), sum(micros) / 1e6 from run group by all")])

check("How much is interactive?",
      [(row["name"], row["runs"], row["pe_seconds"]) for row in rows_of("--by", "mode")],
      sql("select mode, count(*), sum(micros) / 1e6 from run group by mode"))

lost = report("--where", "not ending = ok", "--by", "user")
check("How many PE-hours are lost to runs that did not end well, and whose?",
      [("all", lost["runs"], lost["pe_seconds"])] + [(row["name"], row["runs"], row["pe_seconds"])
                                                   for row in lost["tables"][0]["rows"]],
      [("all", *sql("select count(*), sum(micros) / 1e6 from run where failed")[0])]
      + sql("select usr, count(*), sum(micros) / 1e6 from run where failed group by usr"))

check("On which nodes do ranks die by SIGSEGV?",
      [(row["name"], row["runs"]) for row in rows_of("--where", "end = sig:11", "--by", "host")],
      sql("select h, count(*) from (select arg_min(host, pe) as h from told where ending = 'sig:11' group by id, uid, npes) group by h"))

check("Who needs more than 700 MB in a rank?",
      [(row["name"], row["runs"]) for row in rows_of("--where", "rss > 700M", "--by", "user")],
      sql("select u, count(*) from (select arg_min(usr, pe) as u from told where rss > 700000000 group by id, uid, npes) group by u"))

changes = report("--compare", "2026-08", "--period", "2026-09", "--by", "exe", "--measure", "wall,pe_hours")["rows"]
check("What got slower since last month, and what is used more?",
      [(row["measure"], row["name"], row["b_value"], row["a_value"], row["difference"]) for row in changes
       if row["b_runs"] and row["a_runs"]],
      sql("""with m as (select exe, strftime(day, '%Y-%m') as month, avg(wall) / 1e6 as wall, sum(micros) / 3.6e9 as hours
                       from run group by all),
             sides as (select a.exe, b.wall as bw, a.wall as aw, b.hours as bh, a.hours as ah
                      from m a join m b using (exe) where a.month = '2026-09' and b.month = '2026-08')
             select 'wall', exe, bw, aw, aw - bw from sides union all select 'pe_hours', exe, bh, ah, ah - bh from sides"""))

new = report("--compare", "2026-08", "--period", "2026-09..2026-10", "--by", "user", "--measure", "wall")["rows"]
check("Which users are new, and which have gone?",
      [(row["name"], row["verdict"]) for row in new if row["verdict"] in ("new", "gone")] + [("-", "-")],
      sql("""with a as (select distinct usr from run where strftime(day, '%Y-%m') in ('2026-09', '2026-10')),
                  b as (select distinct usr from run where strftime(day, '%Y-%m') = '2026-08')
             select usr, 'new' from a where usr not in (from b) union all
             select usr, 'gone' from b where usr not in (from a)""") + [("-", "-")])

check("How much of the machine was used in each month?",
      [(row["period"], float(row["used_pe_seconds"])) for row in
       table("--utilisation", "month", "--period", "2026-08..2026-10") if row["scope"] == "machine"],
      sql("""select strftime(m, '%Y-%m'), sum(npes * greatest(0,
               least(epoch(m + interval 1 month) * 1e6, t * 1e6) - greatest(epoch(m) * 1e6, t * 1e6 - wall))) / 1e6
             from (select unnest([timestamp '2026-08-01', timestamp '2026-09-01', timestamp '2026-10-01']) as m), run
             group by m"""))

check("Which processors are used well?",
      [(row["name"], row["measures"]["ipc"]["runs"]) for row in rows_of("--by", "cputype", "--measure", "ipc")],
      sql("select cputype, count(ipc) from run group by cputype"))

check("How large are the runs of each partition?",
      [(row["name"], row["name2"], row["runs"], row["pe_seconds"]) for row in table("--by", "npes_class,part")],
      [(cls, part, str(runs), f"{micros // 10**6}.{micros % 10**6:06}") for cls, part, runs, micros in
       sql("""select case when npes <= 2 then npes::varchar else
                (2 ** (ceil(log2(npes)) - 1) + 1)::bigint || '-' || (2 ** ceil(log2(npes)))::bigint end, part,
              count(*), sum(micros)::hugeint from run group by all""")])

job = sql("select job from run where usr != 'mallory' group by job having count(*) = 1 order by job limit 1")[0][0]
one = report("--job", job)["runs"][0]
check("What became of this job?",
      [(one["id"], one["user"], one["exe"], one["npes"], one["wall_s"], one["pe_seconds"],
        one["measures"]["sys_share"]["value"])],
      sql(f"select id, usr, exe, npes, wall / 1e6, micros / 1e6, sys_share from run where job = '{job}'"))

check("How many programs does each user have, and how many jobs?",
      [(row["name"], row["figures"]["exes"]["number"], row["figures"]["jobs"]["number"])
       for row in rows_of("--by", "user", "--measure", "exes,jobs", "--sort", "exes")],
      sql("select usr, count(distinct exe), count(distinct job) from run group by usr"))

print(ask.figures)
