"""Puts questions about the year of a center to topas-stat, each by one command, and to DuckDB on the same text.

usage: year.py TOPAS_STAT DIR clean|dirty

DIR has the files of `generate-log --year`; its files are written anew, with the variety and the dirt that a year has.
"""

import os
import random
import sys
from pathlib import Path

from center_log import RUNS, Question, changed, extra, tables, with_extra, with_length

STAT, DIR, STATE = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
rnd = random.Random(11)


# ---- variety: what programs of a real center differ in -------------------------------------------

def varied(line):
    """The line as of a program with other memory, processors, MPI and threads; both lines of a run agree where
    the lines of a run do."""
    words = line.split(b" ")
    if words[2] == b"topas-mpi":
        return line
    lot = random.Random(words[15])
    memory = lot.lognormvariate(0, 0.8)
    if lot.random() < 0.2:
        # Some ranks of these programs wait without using their processors.
        words[10] = b"%.6f" % (float(words[10]) * 0.3)
    if lot.random() < 0.15:
        line = b" ".join(words).replace(b"mpi=Open_MPI_v4.1.6", b"mpi=Open_MPI_v3.1.6")
        words = line.split(b" ")
    if extra(line, b"host").endswith(b"7"):
        words[11] = b"%.6f" % (float(words[11]) * 9)
    line = with_length(b" ".join(words))
    memory *= 1 + 0.3 * rnd.random()
    line = with_extra(line, b"rss", b"%d" % int(int(extra(line, b"rss")) * memory))
    # Four runs of a job of some users.
    if lot.random() < 0.3:
        line = with_extra(line, b"job", b"%d" % (int(extra(line, b"job")) // 4 * 4))
    if lot.random() < 0.1:
        line = with_length(line.replace(b" end=", b" thr=%d end=" % (2 ** lot.randrange(1, 5))))
    if lot.random() < 0.05:
        line = with_length(line.replace(b" gpu=", b"").replace(b" host=", b" gpu=hip host="))
    return line


def disagreeing(line):
    """The line of the upper PE, which says something else about the end of its run."""
    return with_extra(line, b"end", rnd.choice([b"exit:0", b"exit:3", b"sig:11", b"sig:15", b"abort"]))


def dirty(lines):
    """What a log of many writers has: see the comments."""
    out = []
    for line in lines:
        lot = rnd.randrange(200)
        if lot < 3:  # torn: cut, by a full disk
            out.append(line[:rnd.randrange(1, len(line) - 1)])
        elif lot < 5:  # NUL bytes of a file system that lost a block
            at = rnd.randrange(len(line))
            out.append(line[:at] + b"\0" * rnd.randrange(1, 600) + line[at:])
        elif lot < 7:  # there twice
            out += [line, line]
        elif lot < 8:  # of another system's editor
            out.append(line + b"\r")
        elif lot < 10:  # a year that is none of this log
            if b" topas-mpi " in line:
                out.append(line)
                continue
            seconds = int(extra(line, b"t")) + 86_400 * (5 * 365 + 2 * 366)
            other = changed(with_extra(line, b"t", b"%d" % seconds), 0, b"2033" + line[4:10])
            out += [line, changed(other, 15, b"f" + other.split(b" ")[15])]
        elif lot < 12 and b" topas-mpi " not in line:  # extras that are not known
            line = with_length(line.replace(b" host=", b" zone=a=b x-y=1 \xc3\xbc=2 host="))
            out.append(line)
        elif lot < 13:  # too long for a line
            out.append(with_length(line.replace(b" len=", b" note=" + b"x" * 900 + b" len=")))
        elif lot < 15 and b" topas-mpi " not in line:  # the line of the other PE was lost
            pass
        elif lot < 18 and b" topas-mpi " not in line:
            out.append(disagreeing(line))
        elif lot < 19:  # a comment, an empty line, bytes of anything
            out += [line, b"# moved here on Monday", b"", bytes(rnd.choice(b"\x02\x1b\x80\xf0\xff") for _ in range(99))]
        else:
            out.append(line)
    return out


def foreign(text):
    """A file of user 20056 with lines that name other users, too: the lines that count."""
    lines = [line for line in text.split(b"\n") if b" uid=20056 " in line and b" topas-mpi " not in line][:40]
    new = [changed(line, 15, b"e" + line.split(b" ")[15]) for line in lines if line.endswith(b"len=%03d" % len(line))]
    forged = [with_extra(line, b"uid", b"20020") for line in new]
    path = DIR / "2026-07.20056.log"
    path.write_bytes(b"\n".join(new + forged) + b"\n")
    os.chown(path, 20056, 20056)
    path.chmod(0o600)
    return b"\n".join(new) + b"\n"


text = b""
for path in sorted(DIR.glob("2026-??.log")):
    lines = [varied(line) for line in path.read_bytes().splitlines()]
    if STATE == "dirty":
        lines = dirty(lines)
    path.write_bytes(b"\n".join(lines) + b"\n")
    text += path.read_bytes()
# Only root can make files of others, and only then is there a file of another user to be believed in part.
if STATE == "dirty" and os.geteuid() == 0:
    text += foreign(text)

db = tables(text)
db.execute(r"""
create table profile as
  select f[7] as id, nullif(regexp_extract(l, ' uid=([^ ]+)', 1), '') as uid, f[6]::bigint as npes,
         regexp_extract(l, ' wall=([0-9.]+)', 1)::double as wall, regexp_extract(l, ' mpisum=([0-9.]+)', 1)::double as mpi
  from (select l, string_split(l, ' ') as f from
         (select distinct right(l, try_cast(regexp_extract(l, ' len=([0-9]+)$', 1) as int)) as l from raw)
       where length(l) = try_cast(regexp_extract(l, ' len=([0-9]+)$', 1) as int) and not regexp_matches(l, '[\x01-\x1f\x7f]'))
  where f[3] = 'topas-mpi' and regexp_matches(l, '^[0-9]{4}/')
""")


# ---- sacct -P of the same jobs ---------------------------------------------------------------------

accounts = DIR / "sacct.txt"
with open(accounts, "w") as file:
    print("JobID|User|Account|Partition|State|Timelimit|Elapsed|AllocCPUS|CPUTimeRAW|Start|End", file=file)
    jobs = db.execute("select job, min(usr), max(npes), max(t), max(wall)::bigint // 1000000 from run where job is not null"
                      " and t < 1900000000 group by job order by job").fetchall()
    slurm = []
    for job, user, npes, end, wall in jobs:
        lot = random.Random(job)
        account = f"proj{int(user[1:]) % 7}"
        cpus = npes * lot.choice([1, 1, 1, 2, 4, 48])
        limit = max(60, int(wall * lot.choice([1, 1.2, 2, 5, 20]) / 60) * 60)
        state = "TIMEOUT" if limit <= wall else "COMPLETED"
        hms = lambda s: f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}"
        print(f"{job}|{user}|{account}|any|{state}|{hms(limit)}|{hms(wall)}|{cpus}|{cpus * wall}|Unknown|Unknown", file=file)
        slurm.append((job, account, state, limit, wall, cpus))
db.execute("create table job (job varchar, account varchar, state varchar, timelimit bigint, elapsed bigint, cpus bigint)")
for at in range(0, len(slurm), 2000):
    db.execute("insert into job select unnest(?), unnest(?), unnest(?), unnest(?), unnest(?), unnest(?)",
               [list(column) for column in zip(*slurm[at:at + 2000])])
db.execute("create view of_job as select run.*, job.account, job.state, job.timelimit, job.elapsed, job.cpus from run left join job using (job)")

ask = Question(STAT, db, sorted(str(path) for path in DIR.glob("*.log")))
check, sql, rows_of, table, report = ask.check, ask.sql, ask.rows_of, ask.table, ask.report
SACCT = ["--sacct", str(accounts)]
# An estimate of a quartile of more than 256 runs is at most 0.4 % off.
QUARTILE = 0.0042


def named(rows, *values):
    """Name and values of each row that is not the rest of a table."""
    return [(row["name"], *(value(row) for value in values)) for row in rows]


def measure(name, key):
    return lambda row: row["measures"][name][key]


def figure(name, key):
    return lambda row: row["figures"][name][key]


runs, seconds = (lambda row: row["runs"]), (lambda row: row["pe_seconds"])

check("Whose runs keep less than half of their PEs busy, and how many PE-hours are that?",
      named(rows_of("--where", "cpu_use < 50%", "--by", "user", "--measure", "cpu_use"), runs, seconds, measure("cpu_use", "runs")),
      sql("select usr, count(*), sum(micros) / 1e6, count(*) from run where cpu_use < 50 group by usr"))

compared = report("--period", "2026-Q3", "--compare", "2026-Q2", "--by", "exe", "--measure", "wall")["rows"]
check("What was the median run length of each program last quarter, and in the quarter before?",
      [(row["name"], row["a_q50"], row["b_q50"]) for row in compared],
      sql("""with q as (select exe, quarter(day) as q, quantile_cont(wall / 1e6, 0.5) as median from run
                       where year(day) = 2026 group by all)
             select a.exe, a.median, b.median from q a join q b using (exe) where a.q = 3 and b.q = 2"""), QUARTILE)
check("How many runs were that?", [(row["name"], row["a_runs"], row["b_runs"]) for row in compared],
      sql("""select exe, count(*) filter (quarter(day) = 3), count(*) filter (quarter(day) = 2) from run
             where year(day) = 2026 group by exe"""))

check("What share of the PE-hours of October was of runs that failed, by partition?",
      named(rows_of("--period", "2026-10", "--by", "part", "--measure", "lost"),
            figure("lost", "pe_seconds"), figure("lost", "of_pe_seconds"), figure("lost", "percent")),
      sql("""select part, coalesce(sum(micros) filter (failed), 0) / 1e6, sum(micros) filter (failed is not null) / 1e6,
                    100 * coalesce(sum(micros) filter (failed), 0)::double / sum(micros) filter (failed is not null)
             from run where strftime(day, '%Y-%m') = '2026-10' group by part"""))

check("Which hosts spend most of the processor time in the system?",
      tuple(named(rows_of("--by", "host", "--measure", "sys_share", "--sort", "sys_share", "--top", "20")[:20],
                  runs, measure("sys_share", "mean"))),
      tuple(sql("""select host, count(*), 100 * sum(sys_sum::double / lines * npes) / sum(cpu_sum::double / lines * npes) as share
                   from run group by host order by share desc limit 20""")), 1e-7)

largest = table("--runs", "--period", "2026-W40", "--sort", "npes", "--top", "1", "--columns", "id,user,exe,npes,ending")[0]
check("Who used the largest run of the week, and how did it end?",
      [(largest["id"], largest["user"], largest["exe"], float(largest["npes"]), largest["ending"] == "ok")],
      sql("""select id, usr, exe, npes, not failed from run where day >= '2026-09-28' and day < '2026-10-05'
             order by npes desc, t desc limit 1"""))

check("How many programs, users and jobs does each project have?",
      named(rows_of(*SACCT, "--by", "sacct.account", "--measure", "exes,users,jobs"),
            figure("exes", "number"), figure("users", "number"), figure("jobs", "number")),
      sql("""select coalesce(account, '-'), count(distinct exe), count(distinct usr), count(distinct job)
             from of_job group by account"""))

check("Which versions of MPI are still in use, by how many, and since when not any more?",
      named(rows_of("--by", "extra.mpi", "--measure", "users,days"), runs, seconds, figure("users", "number"),
            figure("days", "first"), figure("days", "last")),
      sql("""select coalesce(mpi, '-'), count(*), sum(micros) / 1e6, count(distinct usr), strftime(min(day), '%Y-%m-%d'),
                    strftime(max(day), '%Y-%m-%d') from run group by mpi"""))
check("By whom, and how much?",
      [(row["name"], row["name2"], row["runs"], row["pe_seconds"]) for row in
       rows_of("--where", "extra.mpi = Open_MPI_v3.1.6", "--by", "extra.mpi,user")],
      sql("select mpi, usr, count(*), sum(micros) / 1e6 from run where mpi = 'Open_MPI_v3.1.6' group by all"))

# Time of each run in each hour of the week: every run is cut at the hours.
WEEK = """
with spans as (select t * 1000000 - wall as b, t * 1000000 as e, npes from run),
     cut as (select unnest(range((b // 3600000000)::bigint, ((e - 1) // 3600000000)::bigint + 1)) as h, b, e, npes from spans where e > b),
     used as (select h, npes * (least(e, (h + 1) * 3600000000) - greatest(b, h * 3600000000)) as micros from cut)
select strftime(make_timestamp(h * 3600000000), '%a %H:00') as hour, sum(micros)::double / 1e6 as used from used
where make_timestamp(h * 3600000000) >= timestamp '2026-01-05' and make_timestamp(h * 3600000000) < timestamp '2026-12-28'
group by all
"""
YEAR = ["--since", "2026-01-05", "--until", "2026-12-27"]
week = table("--utilisation", "hour-of-week", *YEAR)
check("How much is used in each hour of the week?",
      [(row["period"], float(row["used_pe_seconds"])) for row in week if row["scope"] == "machine"], sql(WEEK))
idle = table("--utilisation", "hour-of-week", "--reverse", "--top", "5", "--capacity", "60000", *YEAR)
check("Which hours of the week are idle, for work on the machine?",
      tuple((row["period"], float(row["used_pe_seconds"]), float(row["available_pe_seconds"]))
            for row in idle if row["scope"] == "machine"),
      tuple((hour, used, 60_000 * 3600.0 * 51) for hour, used in sql(WEEK + "order by used limit 5")))

busy = table("--utilisation", "day", "--top", "10")
check("On which ten days was most used?",
      tuple((row["period"], float(row["used_pe_seconds"])) for row in busy if row["scope"] == "machine"),
      tuple(sql(WEEK.split("select strftime")[0] + """
        select strftime(make_timestamp(h * 3600000000), '%Y-%m-%d') as d, sum(micros)::double / 1e6 as used
        from used group by d order by used desc limit 10""")))

check("Who reserves more than two CPUs for each rank, and how well are they used?",
      named(rows_of(*SACCT, "--where", "sacct.cpus_per_pe > 2", "--by", "user", "--measure", "cpu_use"), runs, seconds),
      sql("select usr, count(*), sum(micros) / 1e6 from of_job where cpus / npes > 2 group by usr"))

check("How much time was lost to runs that reached their time limit, by project?",
      named(rows_of(*SACCT, "--where", "sacct.state = TIMEOUT", "--by", "sacct.account"), runs, seconds),
      sql("select account, count(*), sum(micros) / 1e6 from of_job where state = 'TIMEOUT' group by account"))

check("Which projects ask for ten times the time that they need?",
      [(row["name"], row["runs"], row["pe_seconds"]) for row in
       rows_of(*SACCT, "--where", "sacct.time_used < 10%", "--by", "sacct.account")],
      sql("""select account, count(*), sum(micros) / 1e6 from of_job where elapsed * 100 / timelimit < 10 group by account"""))
check("How much of the time that they ask for do jobs need?",
      [(row["name"], row["runs"]) for row in rows_of(*SACCT, "--by", "sacct.time_class")],
      sql("""select case when timelimit is null then '-' when u < 10 then '<10%' when u < 25 then '10-25%' when u < 50 then '25-50%'
                    when u < 75 then '50-75%' when u < 100 then '75-100%' else '>=100%' end as c, count(*)
             from (select *, elapsed * 100 / timelimit as u from of_job) group by c"""))

check("How much memory does a rank of each program need?",
      named(rows_of("--by", "exe", "--measure", "memory"), measure("memory", "runs"), measure("memory", "mean")),
      sql("select exe, count(memory), avg(memory) from run group by exe"))
check("And at the upper quartile?", named(rows_of("--by", "exe", "--measure", "memory"), measure("memory", "q75")),
      sql("select exe, quantile_cont(memory, 0.75) from run group by exe"), QUARTILE)
check("Whose runs come close to the 2 GB that there are for each PE?",
      named(rows_of("--where", "memory > 1.8G", "--by", "user"), runs, seconds),
      sql("select usr, count(*), sum(micros) / 1e6 from run where memory > 1800000000 group by usr"))
check("Which ten runs needed most memory?",
      tuple((row["id"], float(row["memory"])) for row in
            table("--runs", "--sort", "memory", "--top", "10", "--columns", "id,memory")),
      tuple(sql("select id, memory from run order by memory desc, t desc limit 10")))

check("Does one program get faster with more PEs?",
      named(rows_of("--where", "exe = cfd_les", "--by", "npes", "--measure", "mflops,wall"), measure("mflops", "runs"),
            measure("mflops", "mean"), measure("wall", "mean")),
      [(str(npes), *rest) for npes, *rest in
       sql("""select npes, count(mflops), sum(flop::double / flop_pes * npes) filter (mflops is not null)
                       / sum(flop_wall::double / flop_pes * npes) filter (mflops is not null),
                     avg(wall) / 1e6 from run where exe = 'cfd_les' group by npes""")], 1e-7)

check("In which month did a program become slow?",
      named(rows_of("--where", "exe = cfd_les", "--period", "2026", "--by", "month", "--measure", "mflops"),
            measure("mflops", "runs"), measure("mflops", "mean")),
      sql("""select strftime(day, '%Y-%m') as m, count(mflops), sum(flop::double / flop_pes * npes) filter (mflops is not null)
                       / sum(flop_wall::double / flop_pes * npes) filter (mflops is not null)
             from run where exe = 'cfd_les' and year(day) = 2026 group by m"""), 1e-7)

check("Why do runs have no rate?",
      named(rows_of("--by", "why"), runs, seconds),
      sql("select coalesce(why, '-'), count(*), sum(micros) / 1e6 from run group by why"))

check("Which jobs used most, with all of their runs?",
      tuple(named(rows_of("--by", "job", "--sort", "time", "--top", "10")[:10], runs, seconds)),
      tuple(sql("select job, count(*), sum(micros) / 1e6 from run group by job order by sum(micros) desc limit 10")))

check("How much of the time of each partition is in runs of more than twelve hours?",
      [(row["name"], row["name2"], row["runs"], row["of_runs"], row["pe_seconds"], row["of_pe_seconds"])
       for row in table("--by", "part,wall_class", "--percent", "row") if row["name2"] in ("12-24h", ">=24h")],
      [(part, cls, str(n), str(of), f"{u // 10**6}.{u % 10**6:06}", f"{a // 10**6}.{a % 10**6:06}") for part, cls, n, of, u, a in
       sql("""with c as (select part, case when wall >= 86400e6 then '>=24h' when wall >= 43200e6 then '12-24h' else 'less' end as c,
                                micros from run),
                   w as (select part, count(*) as of, sum(micros)::hugeint as a from run group by part)
              select part, c, count(*), any_value(of), sum(micros)::hugeint, any_value(a) from c join w using (part)
              where c != 'less' group by all""")])

check("Who starts many runs that end within a minute?",
      tuple(named(rows_of("--where", "wall < 1min", "--by", "user", "--sort", "runs", "--top", "3")[:3], runs)),
      tuple(sql("select usr, count(*) from run where wall < 60e6 group by usr order by count(*) desc limit 3")))

check("How much of the time of ranks goes to MPI, by program?",
      [row for row in named(rows_of("--by", "exe", "--measure", "mpi_share"), measure("mpi_share", "runs"),
                            measure("mpi_share", "mean"), measure("mpi_share", "sum")) if row[1]],
      sql("""select exe, count(*), 100 * sum(p.mpi) / sum(p.wall), sum(p.mpi) / 3600 from run join profile p using (id, uid, npes)
             group by exe"""), 1e-6)

check("On which days of the week do runs fail?",
      named(rows_of("--by", "weekday", "--measure", "failures"), figure("failures", "failed"), figure("failures", "known")),
      sql("select strftime(day, '%a'), count(*) filter (failed), count(failed) from run group by all"))

check("How many users and jobs are active in each month?",
      named(rows_of("--period", "2026", "--by", "month", "--measure", "users,jobs"), figure("users", "number"), figure("jobs", "number")),
      sql("select strftime(day, '%Y-%m') as m, count(distinct usr), count(distinct job) from run where year(day) = 2026 group by m"))

db.execute(RUNS.format(name="threaded", where="thr > 1"))
check("Which programs use threads?",
      named(rows_of("--where", "thr > 1", "--by", "exe"), runs, seconds),
      sql("select exe, count(*), sum(micros) / 1e6 from threaded group by exe"))

check("How much do people compute interactively at night?",
      named(rows_of("--where", "mode = I and (hour >= 20 or hour < 6)", "--by", "user"), runs, seconds),
      sql("select usr, count(*), sum(micros) / 1e6 from run where mode = 'I' and (hour(day) >= 20 or hour(day) < 6) group by usr"))

gone = report("--period", "2026-12", "--compare", "2026-11", "--by", "user,exe", "--measure", "wall")["rows"]
check("Who stopped using which program?",
      [(row["name"], row["name2"]) for row in gone if row["verdict"] == "gone"] + [("-", "-")],
      sql("""select usr, exe from run where strftime(day, '%Y-%m') = '2026-11' except
             select usr, exe from run where strftime(day, '%Y-%m') = '2026-12'""") + [("-", "-")])

check("Which compilers make the faster programs, language by language?",
      [(row["name"], row["name2"], row["runs"], row["measures"]["mflops"]["runs"]) for row in
       rows_of("--by", "lang,extra.cc", "--measure", "mflops")],
      sql("select lang, cc, count(*), count(mflops) from run group by all"))

print(ask.figures)
