/// The size limits of everything that the package reads from outside.
///
/// Each limit is several times what the largest known venue needs: 20,000 beacons and ten floors of 800 × 400 m with
/// 10,000 walls each. An input above a limit is refused with an error before it takes memory or time.
package struct InputLimits: Hashable, Sendable {
    /// The limits that readers apply.
    package static let standard = InputLimits()

    // MARK: JSON documents

    /// Nested arrays and objects: a venue needs 8. Readers call themselves for each level.
    package var jsonDepth = 64
    /// Values and keys of one document: the largest venue has 1,300,000. One takes up to 100 bytes of memory.
    package var jsonValues = 2_000_000
    /// Problems that one document is told with: nobody reads more, and each takes some 300 bytes.
    package var problems = 1_000

    // MARK: Bytes

    /// `venue.json`, a file of geofences: the largest venue has 9 MB.
    package var venueFile = 16 << 20
    /// A catalogue after inflation: 30,000 venues.
    package var catalogue = 16 << 20
    /// A radio map after inflation: 4 million readings.
    package var radioMap = 256 << 20
    /// A plan's image or tiles: those of a large building have some ten million bytes.
    package var image = 512 << 20
    /// Training data of rooms: an hour of listening is 4 MB.
    package var training = 64 << 20
    /// A settings file; there are some 150 settings.
    package var settings = 1 << 20
    /// The document of a simulated walk.
    package var walk = 1 << 20
    /// A file with a password or a token.
    package var secret = 1 << 16
    /// All files that are unpacked from one zip: the image and tiles of a large building.
    package var unpacked = 4 << 30
    /// Compressed data may always grow to this size.
    package var inflated = 16 << 20
    /// Beyond that size, data may be this many times as large as the compressed bytes: recordings and radio maps are
    /// 5 to 8 times as large, nothing but a bomb is 1,000 times as large.
    package var inflation = 20

    // MARK: Counts

    /// Files in one zip; tiles are a zip of their own within it.
    package var zipEntries = 10_000
    /// Bytes of a zip's directory, 300 for each file.
    package var zipDirectory = 4 << 20
    /// Maps of a venue: an airport has some 50.
    package var maps = 1_000
    /// Beacons of a venue, of a radio map and of a survey.
    package var beacons = 30_000
    /// Rooms, points of interest, events and interactions of a venue, each: a check compares them with the ways.
    package var places = 30_000
    /// Nodes and edges of a path graph, each: an index lists each edge in up to 900 cells of 4 bytes.
    package var ways = 50_000
    /// Entries of any other array of a document.
    package var entries = 200_000
    /// Settings of one document.
    package var settingCount = 1_000
    /// Corners of one polygon: the check for crossings takes time with their square; no room has that many.
    package var corners = 5_000
    /// The squares of the numbers of corners of all polygons of a document together.
    package var cornerSquares = 300_000_000
    /// Fingerprints of a radio map: a survey of the largest venue at every fourth metre.
    package var fingerprints = 300_000
    /// Readings of a radio map: 32 bytes each.
    package var radioMapReadings = 4_000_000

    /// Sightings and places of one survey recording, 64 bytes each: five hours of 200 sightings a second.
    package var surveyReadings = 4_000_000

    // MARK: The model that a venue makes

    /// Cells of all maps together, some 16 bytes each: the largest venue has 1,400,000.
    package var cells = 8_000_000
    /// Beacons times maps: each map looks at all of them.
    package var beaconMaps = 1_000_000
    /// Fingerprints times maps: each map looks at all of them.
    package var fingerprintMaps = 20_000_000
    /// Cells at which beacons may be heard, added up over all beacons and maps: their rates are added up, some 3 ns each. Of
    /// the tables themselves a session keeps 64 MB.
    package var tableEntries = 64_000_000
    /// Cells around walls, added up over all walls: some 24 bytes each. The largest venue has 8,000,000.
    package var wallCells = 16_000_000
    /// Cells that surveyed places, paths and walkable areas are compared with: some 10 ns each.
    package var modelSteps = 2_000_000_000

    /// Creates the standard limits.
    package init() {}

    /// The bytes that compressed data may grow to.
    ///
    /// - Parameter compressed: their number of bytes.
    package func inflatedSize(ofCompressed compressed: Int) -> Int {
        max(inflated, compressed.multipliedReportingOverflow(by: inflation).partialValue)
    }
}
