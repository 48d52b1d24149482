import argparse

from tidewatch.readings import above, fill_gaps, load


def main() -> None:
    parser = argparse.ArgumentParser(prog="tidewatch", description="Finds the hours above a warning level.")
    parser.add_argument("file", help="a CSV file with the columns hour and level_m")
    parser.add_argument("--warn", type=float, default=4.20, help="warning level in metres (4.20)")
    arguments = parser.parse_args()
    readings = fill_gaps(load(arguments.file))
    for reading in above(readings, arguments.warn):
        print(f"{reading.hour}  {reading.level:.2f} m{'  (filled)' if reading.filled else ''}")


if __name__ == "__main__":
    main()
