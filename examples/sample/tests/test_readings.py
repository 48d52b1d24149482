import unittest

from tidewatch.readings import Reading, above, fill_gaps


def readings(*levels):
    return [Reading(f"2026-03-02T{hour:02}:00", level) for hour, level in enumerate(levels)]


def levels(of):
    return [reading.level for reading in of]


class FillGaps(unittest.TestCase):
    def test_a_short_gap_becomes_a_straight_line(self):
        self.assertEqual(levels(fill_gaps(readings(2.0, None, None, None, 4.0))), [2.0, 2.5, 3.0, 3.5, 4.0])

    def test_a_long_gap_stays_empty(self):
        given = readings(2.0, None, None, None, None, 4.0)
        self.assertEqual(fill_gaps(given), given)

    def test_a_gap_at_the_end_stays_empty(self):
        given = readings(2.0, 2.5, None)
        self.assertEqual(fill_gaps(given), given)


class Above(unittest.TestCase):
    def test_only_hours_above_the_level_are_named(self):
        self.assertEqual(levels(above(readings(4.1, 4.2, 4.3, None), 4.2)), [4.3])


if __name__ == "__main__":
    unittest.main()
