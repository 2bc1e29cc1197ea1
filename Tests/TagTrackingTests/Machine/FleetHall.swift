import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking

/// A hall with receivers on a grid, for the tests of fleets.
struct FleetHall {
    var venue: Venue

    /// Creates a hall.
    ///
    /// - Parameters:
    ///   - columns: the receivers in a row, `spacing` metres apart.
    ///   - rows: the rows of receivers.
    init(columns: Int = 3, rows: Int = 2, spacing: Double = 10, version: Int = 1) {
        let uuid = BeaconUUID(high: 1, low: 2)
        let receivers = (0..<columns * rows).map { index in
            let x = spacing * (0.5 + Double(index % columns))
            let y = spacing * (0.5 + Double(index / columns))
            let number = (index < 10 ? "0" : "") + String(index)
            return VenueReceiver(
                id: "gateway-\(index)", aliases: ["AA:00:00:00:00:" + number],
                identity: BeaconIdentity(uuid: uuid, major: 0, minor: UInt16(index)), mapID: 1,
                point: MapPoint(x: x, y: y))
        }
        let map = VenueMap(
            id: 1, name: "Hall", level: 0, width: spacing * Double(columns), height: spacing * Double(rows))
        venue = Venue(id: 7, name: "Hall", version: version, maps: [map], receivers: receivers)
    }

    /// The settings of a fleet whose sessions need little time.
    static var settings: FleetSettings {
        var settings = FleetSettings()
        settings.classes["standard"] = FleetSettings.TagClass(
            particleCount: 100, cellScale: 2, positionInterval: .seconds(1), awayTimeout: .seconds(30))
        return settings
    }

    /// The start of the tests, in Unix time.
    static let start = Instant(seconds: 1_700_000_000)

    /// Returns the time some seconds after the start.
    static func at(_ seconds: Double) -> Instant { start.advanced(by: .nanoseconds(Int64((seconds * 1e9).rounded()))) }

    /// Returns the key of a tag.
    static func key(_ tag: Int) -> TagKey { .address(DeviceAddress(rawValue: 0xC000_0000_0000 + UInt64(tag))) }

    /// Returns a reading of a tag.
    static func reading(_ tag: Int, by receiver: Int = 0, at seconds: Double, rssi: Double = -60) -> TagReading {
        TagReading(tag: key(tag), receiver: "gateway-\(receiver)", instant: at(seconds), rssi: rssi)
    }

    /// Returns the readings of simulated tags for some seconds.
    func readings(
        of count: Int, seconds: Double, seed: UInt64 = 1, change: (inout SimulatedFleetSettings) -> Void = { _ in }
    ) -> [TagReading] {
        var settings = SimulatedFleetSettings()
        settings.tagCount = count
        settings.seed = seed
        change(&settings)
        var fleet = SimulatedFleet(venue: venue, settings: settings, start: Self.start)
        return fleet.readings(until: Self.at(seconds)).map { TagReading($0, in: venue) }
    }
}

extension TagReading {
    /// Creates the reading of a simulated tag.
    init(_ reading: SimulatedFleet.Reading, in venue: Venue) {
        self.init(
            tag: FleetHall.key(reading.tag), receiver: venue.receivers[reading.receiver].id, instant: reading.instant,
            rssi: reading.rssi)
    }
}

extension FleetMachine {
    /// Adds readings in their order, and advances after each second.
    mutating func run(_ readings: [TagReading], from start: Double = 0, to end: Double) -> [FleetOutput] {
        var outputs: [FleetOutput] = []
        var index = 0
        var time = start
        while time < end {
            time = min(time + 1, end)
            while index < readings.count, readings[index].instant < FleetHall.at(time) {
                observe(readings[index])
                index += 1
            }
            outputs += advance(to: FleetHall.at(time))
        }
        return outputs
    }
}

extension FleetOutput {
    /// The position of the output; nil for other contents.
    var position: Position? {
        if case .position(let position) = content { return position }
        return nil
    }

    /// The kind of the content in a word.
    var kind: String {
        switch content {
        case .present: "present"
        case .position: "position"
        case .room: "room"
        case .event: "event"
        case .away: "away"
        }
    }
}
