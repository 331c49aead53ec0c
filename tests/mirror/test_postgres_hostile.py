"""What nobody thought of, kept on a PostgreSQL server: names of any length and number, values of any type."""

import json
import math
import random
import string
import sys
from itertools import chain
from pathlib import Path

import pytest

from ledger.base.errors import LedgerError
from ledger.mirror.adhoc import TOO_LONG, select
from ledger.mirror.engine import open_reader, open_writer
from ledger.mirror.location import mirror_location
from ledger.mirror.raw import driver
from tests.support import cli, postgres
from tests.support.mirroring import mirror_at


@pytest.fixture
def url(server: postgres.Postgres) -> str:
    return server.database()


def long_name(seed: int, length: int = 20_000) -> str:
    """Make a name that does not compress to what an ordered index of the server takes."""
    return "".join(random.Random(seed).choices(string.ascii_letters, k=length))


def test_names_of_any_length_are_kept_once(url: str, tmp_path: Path) -> None:
    names = [long_name(1), long_name(1)[:-1], long_name(2)]
    found = []
    logs = [
        cli.log(
            tmp_path.resolve(),
            cli.lines(cli.HEADER, cli.run(1, 1, metrics=dict.fromkeys(names, place))),
            f"{place}/autoresearch.jsonl",
        )
        for place in (1, 2)
    ]
    for place in (tmp_path / "mirror.db", mirror_location(url)):
        with mirror_at(place) as mirror:
            assert [mirror.sync(log).status for log in logs] == ["new", "new"]
            assert mirror.raw.execute("SELECT count(*) FROM metric_name").fetchone()[0] == 3
            found.append(repr(mirror.rows("metrics")))
    assert found[0] == found[1]


def test_a_path_as_long_as_the_system_allows_is_kept(url: str, tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    folder = folder.joinpath(*(long_name(number, 200) for number in range((3900 - len(str(folder))) // 201)))
    folder.mkdir(parents=True)
    with mirror_at(mirror_location(url)) as mirror:
        log = cli.log(folder)
        assert (len(str(log)) > 3000, mirror.sync(log).status, mirror.sync(log).status) == (True, "new", "unchanged")
        assert mirror.verify(log).ok


def test_a_run_may_have_more_metrics_than_a_statement_takes_values(url: str, tmp_path: Path) -> None:
    log = cli.log(tmp_path, cli.lines(cli.HEADER, cli.run(1, 1, metrics={f"m{number}": 1 for number in range(66_000)})))
    done = cli.ledger(tmp_path, "sync", log, LEDGER_DB=url)
    assert (done.code, done.err) == (0, "")
    with mirror_at(mirror_location(url)) as mirror:
        assert mirror.raw.execute("SELECT count(*) FROM run_metric").fetchone()[0] == 66_000


def test_a_writer_sees_what_it_waited_for_whatever_the_database_is_set_to(
    server: postgres.Postgres, url: str, tmp_path: Path
) -> None:
    name = postgres.database_of(url)
    server.sql(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
    with open_writer(mirror_location(url)) as connection, connection.begin():
        shown = driver(connection).execute("SHOW transaction_isolation").fetchone()
    assert shown == ("read committed",)


TYPES = {
    "'NaN'::numeric": None,
    "'-Infinity'::numeric": None,
    "'infinity'::timestamp": "infinity",
    "'10000-01-01'::date": "10000-01-01",
    "'0044-03-15 BC'::date": "0044-03-15 BC",
    "'24:00'::time": "24:00:00",
    "'12:00+01'::timetz": "12:00:00+01",
    "interval '1 year'": "1 year",
    "int4range(1, 5)": "[1,5)",
    "'1.2.3.4'::inet": "1.2.3.4",
    "b'101'": "101",
    "'run'::regclass": "run",
    "ARRAY[1, 2]": "{1,2}",
    "ARRAY[1.5::float8]": "{1.5}",
    "'{\"a\": [1]}'::jsonb": '{"a": [1]}',
    "ROW(1, 'a')": "(1,a)",
    "0.1::float8 + 0.2": 0.1 + 0.2,
    "5e-324::float8": 5e-324,
    "9223372036854775808": 9.223372036854775808e18,
    "9007199254740993": 9007199254740993,
    "1.50": 1.5,
    "1 = 1": True,
    "'\\x41'::bytea": "A",
    "chr(1) || chr(1)": "\0",
    "NULL": None,
}


def test_typed_sql_gives_values_of_any_type(server: postgres.Postgres, url: str, tmp_path: Path) -> None:
    server.sql(f"ALTER DATABASE {postgres.database_of(url)} SET extra_float_digits = 0")
    asked = ", ".join(f"{sql} AS c{place}" for place, sql in enumerate(TYPES))
    for form in ("markdown", "json", "csv"):
        done = cli.ledger(tmp_path, "sql", f"SELECT {asked}", "--format", form, LEDGER_DB=url)
        assert (done.code, done.err) == (0, ""), (form, done.err)
    done = cli.ledger(tmp_path, "sql", f"SELECT {asked}", "--format", "json", LEDGER_DB=url)
    assert list(json.loads(done.out)[0].values()) == list(TYPES.values())


def test_typed_sql_that_never_ends_is_stopped_though_each_answer_is_quick(url: str) -> None:
    with open_reader(mirror_location(url)) as connection:
        assert connection is not None
        rows = select(driver(connection), "SELECT generate_series(1, 1000000000)", 0.5)[1]
        with pytest.raises(LedgerError, match=TOO_LONG):
            for _ in zip(rows, range(200_000_000), strict=False):
                pass


def test_an_at_sign_in_a_password_that_was_left_as_it_is_shows_nothing_of_it(tmp_path: Path) -> None:
    for words in (("runs",), ("db", "path"), ("sync", cli.log(tmp_path))):
        done = cli.ledger(tmp_path, *words, LEDGER_DB="postgresql://keeper:one@two@localhost:1/x")
        assert done.code == 2 and "the mirror's address cannot be read" in done.err
        assert "one" not in done.out + done.err and "two" not in done.out + done.err


def test_a_database_of_another_encoding_is_refused(server: postgres.Postgres, tmp_path: Path) -> None:
    server.sql("DROP DATABASE IF EXISTS latin", check=False)
    server.sql("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'", check=False)
    if server.sql("SELECT count(*) FROM pg_database WHERE datname = 'latin'") == "0":  # a cluster of ICU wants it named
        server.sql("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc")
    for words in (("sync", cli.log(tmp_path)), ("runs",)):
        done = cli.ledger(tmp_path, *words, LEDGER_DB=server.url("latin"))
        assert (done.code, done.out) == (2, "") and "holds text as LATIN1; ledger needs one made for UTF8" in done.err
    assert server.sql("SELECT count(*) FROM pg_class WHERE relname = 'run'", "latin") == "0"


MOST = sys.float_info.max
EDGES = (
    (99.5, MOST, 99.6, 99.7, 102.0),  # a confidence that is all but past every double
    (0.0, MOST, 0.0, 2.0, 1.0),
    (0.0, MOST / 2, 0.5, 0.0, 1.0),
    (0.0, MOST / 2, math.nextafter(0.5, 0), 0.0, 1.0),
    (1e-306, 1.7976931348623156, 1.0),  # and a change in percent
    (1e-306, math.nextafter(1.7976931348623156, 2), 1.0),
    (5e-324, 8e-16, 0.0, 1e-323),
)


def test_what_is_nearly_past_every_double_is_computed_as_in_a_file(url: str, tmp_path: Path) -> None:
    header, found = {**cli.HEADER, "bestDirection": "higher"}, []
    records = [[header, *(cli.run(place, value) for place, value in enumerate(edge, 1))] for edge in EDGES]
    log = cli.log(tmp_path.resolve(), cli.lines(*chain.from_iterable(records)))
    for place in (tmp_path / "mirror.db", mirror_location(url)):
        with mirror_at(place) as mirror:
            assert mirror.sync(log).status == "new" and mirror.verify(log).ok
            found.append([repr(mirror.rows(view)) for view in ("segments", "runs", "best")])
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["Team", "team 'a'", 'team "b"', "größe-1", "select"])
def test_a_schema_may_have_any_name(server: postgres.Postgres, url: str, tmp_path: Path, name: str) -> None:
    quoted = '"{}"'.format(name.replace('"', '""'))
    server.sql(f"CREATE SCHEMA {quoted}", postgres.database_of(url))
    server.sql(f"ALTER ROLE {postgres.USER} IN DATABASE {postgres.database_of(url)} SET search_path = {quoted}")
    log = cli.log(tmp_path)
    for words in (
        ("sync", log),
        ("sync", log),
        ("db", "info"),
        ("db", "upgrade"),
        ("db", "rebuild"),
        ("verify", "--all"),
    ):
        done = cli.ledger(tmp_path, *words, LEDGER_DB=url)
        assert (done.code, done.err) == (0, ""), words
    done = cli.ledger(tmp_path, "sessions", "--format", "json", LEDGER_DB=url)
    assert [row["runs"] for row in json.loads(done.out)] == [3]
