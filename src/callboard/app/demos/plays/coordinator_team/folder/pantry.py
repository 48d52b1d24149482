"""Lists what is in the pantry, what is least first."""

import argparse
import csv


def main() -> None:
    parser = argparse.ArgumentParser(prog="pantry")
    parser.add_argument("--limit", type=int, default=3, help="how many items to list")
    arguments = parser.parse_args()
    with open("stock.csv", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: int(row["left"]))
    for row in rows[: arguments.limit]:
        print(f"{row['left']:>3}  {row['item']}")


if __name__ == "__main__":
    main()
