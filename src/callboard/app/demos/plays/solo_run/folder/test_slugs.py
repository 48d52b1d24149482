import unittest

from slugs import slugify


class Slugify(unittest.TestCase):
    def test_words_are_joined_by_hyphens(self):
        self.assertEqual(slugify("Ships in the harbour"), "ships-in-the-harbour")

    def test_accents_are_dropped_and_their_letters_stay(self):
        self.assertEqual(slugify("Café Zoë, Århus"), "cafe-zoe-arhus")


if __name__ == "__main__":
    unittest.main()
