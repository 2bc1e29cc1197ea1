// A survey app in the terminal: SurveyTerminal VENUE RADIOMAP [RECORDING]
//
// The installer stands at a place, types "MAP X Y" and waits for some seconds; an empty line or the end of the input ends the
// survey. The app writes the survey as a recording beside the radio map, and learns the map from it. Without RECORDING it uses
// the Bluetooth adapter; with one, it replays the readings, which is how it is tested.
import BlueZScanning
import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

/// Prints an error and ends the program.
func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

/// The readings of the radio since the last place, and the instant of the latest one.
actor Reception {
    private var readings: [SensorReading] = []

    func add(_ reading: SensorReading) { readings.append(reading) }

    /// Removes and returns the readings.
    func take() -> [SensorReading] {
        defer { readings = [] }
        return readings
    }

    /// The number of sightings of beacons since the last place.
    var count: Int {
        readings.count {
            switch $0 {
            case .sighting, .advertisement: true
            default: false
            }
        }
    }
}

struct Survey {
    let venue: Venue
    let radioMap: String
    var recording: String { radioMap + ".survey.jsonl.gz" }

    /// Asks for places until the installer has finished, and learns the radio map.
    func run(_ source: some ScanSource) async throws {
        let reception = Reception()
        let scan = Task {
            for try await reading in source.readings() { await reception.add(reading) }
        }
        // A recording delivers everything at once; the installer with a radio waits at each place.
        if source.pace == .recorded { try await scan.value }
        var writer = try RecordingWriter(path: recording, header: RecordingHeader(venueID: venue.id))
        while let place = ask() {
            if source.pace == .live {
                print("Stand still for 10 s…")
                try await Task.sleep(for: .seconds(10))
            }
            let count = await reception.count
            let readings = await reception.take()
            guard let first = readings.first else {
                print("No beacon was received. Is the radio on?")
                continue
            }
            try writer.write(Truth(instant: first.instant, mapID: place.mapID, point: place.point, isHold: true))
            for reading in readings { try writer.write(reading) }
            print("\(count) readings at x \(place.point.x) y \(place.point.y)")
        }
        scan.cancel()
        try writer.close()
        var learner = RadioMapLearner(venue: venue)
        learner.add(try SurveyRecording(path: recording))
        guard let map = learner.finish() else {
            print("The survey has no readings of the venue's beacons, so there is no radio map.")
            return
        }
        try RadioMapFile.write(map, to: radioMap)
        print("\(map.fingerprints.count) places in \(radioMap)")
    }

    /// Reads a place from the terminal; nil at the end.
    private func ask() -> (mapID: MapID, point: MapPoint)? {
        while true {
            print("MAP X Y (metres from the top left corner), or an empty line to end: ", terminator: "")
            fflush(nil)
            guard let line = readLine(), !line.isEmpty else { return nil }
            let words = line.split(separator: " ")
            if words.count == 3, let map = Int(words[0]), let x = Double(words[1]), let y = Double(words[2]),
                venue.map(MapID(rawValue: map)) != nil
            {
                return (MapID(rawValue: map), MapPoint(x: x, y: y))
            }
            print("'\(line)' is not a place. The maps are:", venue.maps.map { "\($0.id) (\($0.name))" })
        }
    }
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 2 || arguments.count == 3, let folder = arguments.first else {
    fail("usage: SurveyTerminal VENUE RADIOMAP [RECORDING]")
}
do {
    let survey = Survey(venue: try VenuePacketReader().read(folder).venue, radioMap: Array(arguments)[1])
    if arguments.count == 3 {
        try await survey.run(RecordingSource(path: Array(arguments)[2]))
    } else {
        try await survey.run(BluetoothScanSource())
    }
} catch {
    fail("SurveyTerminal: \(error)")
}
