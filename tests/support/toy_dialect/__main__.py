"""The command line with the toy protocol in the registry, as `python -m tests.support.toy_dialect`."""

import ledger.dialects
from tests.support.toy_dialect import DIALECT

ledger.dialects.DIALECTS = (DIALECT, *ledger.dialects.DIALECTS)

if __name__ == "__main__":
    from ledger.__main__ import main

    main()
