/// The size limits of everything that the package reads from outside.
///
/// Each limit is several times the size of the largest known venue: 20,000 beacons and ten floors of 800 × 400 m with
/// 10,000 walls each. Readers reject an input above a limit with an error before they spend memory or time on it.
package struct InputLimits: Hashable, Sendable {
    /// The standard limits, which all readers apply.
    package static let standard = InputLimits()

    // MARK: JSON documents

    /// Nesting depth of arrays and objects; a venue needs 8. Readers recurse once per level.
    package var jsonDepth = 64
    /// Values and keys in one document; the largest venue has 1,300,000. Each needs up to 100 bytes of memory.
    package var jsonValues = 2_000_000
    /// Problems reported for one document; each needs about 300 bytes of memory.
    package var problems = 1_000

    // MARK: Bytes

    /// A `venue.json` or geofence file; the largest venue has 9 MB.
    package var venueFile = 16 << 20
    /// A catalogue after decompression: 30,000 venues.
    package var catalogue = 16 << 20
    /// A radio map after decompression: 4 million readings.
    package var radioMap = 256 << 20
    /// The image or tiles of a plan; those of a large building have about ten million bytes.
    package var image = 512 << 20
    /// Training data for rooms; one hour of scanning needs 4 MB.
    package var training = 64 << 20
    /// A settings file; there are about 150 settings.
    package var settings = 1 << 20
    /// The document of a simulated walk.
    package var walk = 1 << 20
    /// A file with a password or a token.
    package var secret = 1 << 16
    /// All files unpacked from one zip: the image and tiles of a large building.
    package var unpacked = 4 << 30
    /// Decompressed data up to this size is always accepted.
    package var inflated = 16 << 20
    /// The maximum compression ratio beyond that size. Recordings and radio maps have a ratio of 5 to 8; decompression
    /// bombs have a ratio of about 1,000.
    package var inflation = 20

    // MARK: Counts

    /// Files in one zip; tiles are in a separate zip inside it.
    package var zipEntries = 10_000
    /// Bytes of a zip's directory, about 300 per file.
    package var zipDirectory = 4 << 20
    /// Maps of a venue; an airport has about 50.
    package var maps = 1_000
    /// Beacons of a venue, of a radio map and of a survey.
    package var beacons = 30_000
    /// Rooms, points of interest, events and interactions of a venue, each. A check compares them with the paths.
    package var places = 30_000
    /// Nodes and edges of a path graph, each. An index lists each edge in up to 900 cells of 4 bytes.
    package var ways = 50_000
    /// Entries of any other array of a document.
    package var entries = 200_000
    /// Settings of one document.
    package var settingCount = 1_000
    /// Corners of one polygon. The time to check for crossings grows with their square; no room has this many.
    package var corners = 5_000
    /// The sum over all polygons of a document of their squared number of corners.
    package var cornerSquares = 300_000_000
    /// Fingerprints of a radio map: a survey of the largest venue on a 4 m grid.
    package var fingerprints = 300_000
    /// Readings of a radio map: 32 bytes each.
    package var radioMapReadings = 4_000_000

    /// Sightings and places of one survey recording, 64 bytes each: five hours at 200 sightings per second.
    package var surveyReadings = 4_000_000

    // MARK: The model of a venue

    /// Cells of all maps together, about 16 bytes each; the largest venue has 1,400,000.
    package var cells = 8_000_000
    /// Beacons times maps: each map processes all beacons.
    package var beaconMaps = 1_000_000
    /// Fingerprints times maps: each map processes all fingerprints.
    package var fingerprintMaps = 20_000_000
    /// Cells in range of a beacon, summed over all beacons and maps. Adding up their rates costs about 3 ns each. A
    /// session stores up to 64 MB of the tables.
    package var tableEntries = 64_000_000
    /// Cells around walls, summed over all walls, about 24 bytes each; the largest venue has 8,000,000.
    package var wallCells = 16_000_000
    /// Comparisons of cells with surveyed places, paths and walkable areas, about 10 ns each.
    package var modelSteps = 2_000_000_000

    /// Creates the standard limits.
    package init() {}

    /// Returns the maximum size of decompressed data in bytes.
    ///
    /// - Parameter compressed: The size of the compressed data in bytes.
    package func inflatedSize(ofCompressed compressed: Int) -> Int {
        max(inflated, compressed.multipliedReportingOverflow(by: inflation).partialValue)
    }
}
