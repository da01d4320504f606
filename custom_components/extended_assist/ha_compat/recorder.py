"""The recorder's tables, statistics and converters of ids, which it does not publish as helpers."""

from homeassistant.components.recorder.core import Recorder
from homeassistant.components.recorder.db_schema import (
    EventData,
    Events,
    EventTypes,
    RecorderRuns,
    StateAttributes,
    States,
    StatesMeta,
    Statistics,
    StatisticsMeta,
    StatisticsShortTerm,
)
from homeassistant.components.recorder.entity_options import is_entity_recorded
from homeassistant.components.recorder.history import get_significant_states
from homeassistant.components.recorder.models import (
    StatisticMeanType,
    StatisticMetaData,
    bytes_to_ulid_or_none,
    bytes_to_uuid_hex_or_none,
    ulid_to_bytes_or_none,
    uuid_hex_to_bytes_or_none,
)
from homeassistant.components.recorder.statistics import (
    STATISTIC_UNIT_TO_UNIT_CONVERTER,
    UNIT_CLASS_TO_UNIT_CONVERTER,
    get_display_unit,
    get_metadata,
    query_circular_mean,
    statistic_during_period,
    statistics_during_period,
    weighted_circular_mean,
)

__all__ = (
    "STATISTIC_UNIT_TO_UNIT_CONVERTER",
    "UNIT_CLASS_TO_UNIT_CONVERTER",
    "EventData",
    "EventTypes",
    "Events",
    "Recorder",
    "RecorderRuns",
    "StateAttributes",
    "States",
    "StatesMeta",
    "StatisticMeanType",
    "StatisticMetaData",
    "Statistics",
    "StatisticsMeta",
    "StatisticsShortTerm",
    "bytes_to_ulid_or_none",
    "bytes_to_uuid_hex_or_none",
    "get_display_unit",
    "get_metadata",
    "get_significant_states",
    "is_entity_recorded",
    "query_circular_mean",
    "statistic_during_period",
    "statistics_during_period",
    "ulid_to_bytes_or_none",
    "uuid_hex_to_bytes_or_none",
    "weighted_circular_mean",
)
