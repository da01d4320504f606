"""The small homes of other tests, in which the documentation's examples are true."""

from tests.actions.conftest import toolbox
from tests.functions.conftest import install
from tests.helpers.automating import start_home
from tests.templates.conftest import home as templates_home, ids
from tests.tools.test_database import home as database_home
from tests.tools.test_energy import home as energy_home
from tests.tools.test_entities import home as entities_home
from tests.tools.test_habits import lived as habits_home
from tests.tools.test_history import house as history_home
from tests.tools.test_logbook import home as logbook_home
from tests.tools.test_simulation import week as rehearsal_home
from tests.tools.test_statistics import home as statistics_home
from tests.web.conftest import admit, names, site

__all__ = [
    "admit",
    "database_home",
    "energy_home",
    "entities_home",
    "habits_home",
    "history_home",
    "ids",
    "install",
    "logbook_home",
    "names",
    "rehearsal_home",
    "site",
    "start_home",
    "statistics_home",
    "templates_home",
    "toolbox",
]
