import IndoorLocalization
import ScanRecording

extension PlotInput {
    /// The readings of the recordings at their ground truth, or without recordings those of the radio map.
    ///
    /// - Throws: `CommandError` if there is neither a recording nor a radio map.
    func placedReadings(
        strictness: RecordingReader.Strictness, _ progress: ProgressLine
    ) throws -> PlacedReadings {
        if !recordings.isEmpty { return try PlacedReadings(recordings, in: venue, strictness: strictness, progress) }
        guard let map = venue.radioMap else {
            throw CommandError(
                description: "'\(venue.name)' has no radio map; give recordings with ground truth, or --radio-map")
        }
        return PlacedReadings(map)
    }

    /// The reason why there is no reading to draw.
    var reasonForNoReading: String {
        recordings.isEmpty
            ? "the radio map has no reading of these beacons"
            : "no reading of a beacon of the venue at a place with ground truth (mapId, x, y)"
    }
}
