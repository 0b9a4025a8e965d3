"""Writes oracle.txt: the runs of some cron expressions in some zones, by two programs that are not ours.

    pip install croniter==7.0.0 tzdata==2025.2 && python generate.py > oracle.txt

- "wall" is written here: it asks of each minute whether clocks show it, and knows the rules of the module's docs from nowhere else.
- "croniter" is the package. It reads neither `W` nor seconds in front, and wants `L5` for `5L`.

Croniter leaves out no run of "wall". What it runs beside is listed run by run, at the end, by the rule it breaks.
"""

import functools
import sys
import zoneinfo
from datetime import datetime, timedelta, timezone
from importlib.metadata import version

from croniter import croniter

zoneinfo.reset_tzpath(to=())  # The zones of the package, not of the machine.

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
END = datetime(2028, 4, 1, tzinfo=timezone.utc)
NEAR = timedelta(hours=2)
MINUTE = timedelta(minutes=1)

ZONES = ["Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Santiago"]
CRONS = [
    "0 9 * * *", "30 2 * * *", "30 1 * * *", "0 0 * * *", "30 23 * * *", "0 2,14 * * *", "45 1-3 * * *",
    "0 * * * *", "*/15 * * 3,4,9-11 0", "10 */2 * * *", "0 */6 * * *", "*/10 2 * * *", "0 9 * * 1-5",
    "0 9 * * MON,WED,FRI", "0 10 * * 7", "0 10 * * SAT-SUN", "0 9 1 * *", "0 9 1,15 * *", "0 9 31 * *", "0 9 L * *",
    "0 12 * * 1#1", "0 12 * * 5L", "0 9 13 * 5", "0 9 1-7 * 1", "0 0 29 2 *", "0 0 1 1 *",
    "0 6 * JUN-AUG *", "59 23 31 12 *", "0,30 22-23,0-3 * * 0", "0 9 15W * *", "15,45 0 9 * * 6",
]

NAMES = {name: str(n) for n, name in enumerate("SUN MON TUE WED THU FRI SAT".split())}
NAMES |= {name: str(n) for n, name in enumerate("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(), 1)}


def values(field, low, high):
    found = set()
    for part in field.split(","):
        part, _, step = part.partition("/")
        if part == "*":
            first, last = low, high
        else:
            first, _, last = part.partition("-")
            first, last = int(NAMES.get(first, first)), int(NAMES.get(last or first, last or first))
            if last < first:
                last += 7  # SAT-SUN
        found |= set(range(first, last + 1, int(step or 1)))
    return found


def last_day(day):
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def of_month(field, day):
    if field == "L":
        return day == last_day(day)
    if field.endswith("W"):
        wanted = day.replace(day=int(field[:-1]))
        nearest = {5: wanted - timedelta(days=1), 6: wanted + timedelta(days=1)}  # None of ours is at a month's end.
        return day == nearest.get(wanted.weekday(), wanted)
    return day.day in values(field, 1, 31)


def of_week(field, day):
    weekday = day.isoweekday() % 7
    if "#" in field:
        wanted, nth = map(int, field.split("#"))
        return weekday == wanted and (day.day + 6) // 7 == nth
    if field.endswith("L"):
        return weekday == int(field[:-1]) and (day + timedelta(days=7)).month != day.month
    return weekday in {value % 7 for value in values(field, 0, 6)}


def on_day(fields, day):
    days, month, weekdays = fields
    if day.month not in values(month, 1, 12):
        return False
    either = [match(field, day) for match, field in ((of_month, days), (of_week, weekdays)) if field != "*"]
    return not either or any(either)


def exists(local, zone):
    return local.replace(tzinfo=zone).astimezone(timezone.utc).astimezone(zone).replace(tzinfo=None) == local


def follows_clock(expression):
    minute, hour = expression.split()[-5:-3]
    return minute.startswith("*") or hour.startswith("*")


@functools.cache
def real_minutes(zone):
    """What clocks show, and each minute in which they show it."""
    shown = {}
    at = START - timedelta(days=2)
    while at < END + timedelta(days=2):
        shown.setdefault(at.astimezone(zone).replace(tzinfo=None), []).append(at)
        at += MINUTE
    return shown


def wall(expression, zone):
    fields = expression.split()
    seconds, minute, hour, *days = fields if len(fields) == 6 else ["0", *fields]
    seconds, minutes, hours = values(seconds, 0, 59), values(minute, 0, 59), values(hour, 0, 23)
    # Each minute is one of real time for what follows the clock, else one on the wall.
    shown = real_minutes(zone) if follows_clock(expression) else {}
    start = (START - timedelta(days=2)).replace(tzinfo=None)
    dates = [start + timedelta(days=n) for n in range((END - START).days + 4)]
    runs = set()
    for date in (date for date in dates if on_day(days, date.date())):
        for local in (date + timedelta(hours=h, minutes=m) for h in hours for m in minutes):
            if follows_clock(expression):
                moments = shown.get(local, [])
            elif exists(local, zone):
                moments = [local.replace(tzinfo=zone)]
            else:
                while not exists(local, zone):
                    local += MINUTE
                moments = [local.replace(tzinfo=zone)]
            runs |= {moment.astimezone(timezone.utc) + timedelta(seconds=s) for moment in moments for s in seconds}
    return sorted(run for run in runs if START < run < END)


def theirs(expression, zone):
    if "W" in expression.split()[2] or len(expression.split()) == 6:
        return None
    expression = expression.replace("5L", "L5").replace("SAT-SUN", "6-7")
    runs = croniter(expression, START.astimezone(zone), max_years_between_matches=10)
    found = []
    while (run := runs.get_next(datetime).astimezone(timezone.utc)) < END:
        found.append(run)
    return found


def fnv(runs):
    """FNV-1a, 64 bits, over the Unix seconds as 8 bytes each, little-endian."""
    sum = 0xCBF29CE484222325
    for run in runs:
        for byte in int(run.timestamp()).to_bytes(8, "little"):
            sum = (sum ^ byte) * 0x100000001B3 % 2**64
    return f"{sum:016x}"


def transitions(zone):
    at, last = START, START.astimezone(zone).utcoffset()
    while at < END:
        if (offset := at.astimezone(zone).utcoffset()) != last:
            yield at
            last = offset
        at += timedelta(minutes=30)


def stamp(run):
    return run.strftime("%Y-%m-%dT%H:%M:%SZ")


def main():
    print(f"# croniter {version('croniter')}, tzdata {version('tzdata')}, Python {sys.version.split()[0]}")
    print(f"# span {stamp(START)} {stamp(END)}, both ends out")
    differences = []
    for name in ZONES:
        zone = zoneinfo.ZoneInfo(name)
        edges = list(transitions(zone))
        for expression in CRONS:
            ours, other = wall(expression, zone), theirs(expression, zone)
            told = "- -" if other is None else f"{len(other)} {fnv(other)}"
            print(f"runs|{name}|{expression}|{len(ours)} {fnv(ours)}|{told}")
            for edge in edges:
                if near := [run for run in ours if edge - NEAR <= run <= edge + NEAR]:
                    shown = " ".join(run.strftime("%H:%M:%S").removesuffix(":00") for run in near)
                    print(f"near|{name}|{expression}|{stamp(edge)}|{shown}")
            if other is not None:
                assert other == sorted(set(other)), f"{name} {expression}: croniter is out of order"
                assert set(ours) <= set(other), f"{name} {expression}: croniter leaves a run out"
                # Followers of the clock it also runs after a gap, named times also when clocks show them again.
                kind = "gap" if follows_clock(expression) else "again"
                differences += [(kind, name, expression, run) for run in sorted(set(other) - set(ours))]
    for kind, name, expression, run in differences:
        local = run.astimezone(zoneinfo.ZoneInfo(name))
        print(f"{kind}|{name}|{expression}|{stamp(run)}|{local.isoformat()}")


main()
