import IndoorLocalization
import ScanRecording
import TagTracking

/// A track with exchanged roles: the beacons of the data set act as gateways, and its device acts as a tag.
///
/// The path loss between two places doesn't depend on the direction, so that a tag that gateways receive is located as
/// well as a device that receives beacons. The messages pass through all stages of a fleet: decoder, intake and
/// machine.
struct GatewayReplay: Sendable {
    /// The content of the gateways' messages.
    enum Messages: String, CaseIterable, Sendable {
        /// Each reading with its time, as `indoorloc scan --publish` sends it.
        case raw
        /// The median of 15 s every 5 s, without a time, as ESPresense sends it.
        case espresense
    }

    /// The zero point of the recordings, as a time since 1970: 1 January 2026.
    static let start = Duration.seconds(1_767_225_600)
    /// The tag.
    private static let tag = BeaconIdentity(uuid: BeaconUUID(high: 0x7A6, low: 0x1), major: 1, minor: 1)
    /// The prefix of topics of raw messages.
    private static let prefix = "evaluation"
    /// The step of the machine. It is short compared with the reorder window.
    private static let step = Duration.milliseconds(100)

    /// The venue, with its beacons as receivers.
    let venue: Venue
    private let model: FleetModel
    private let messages: Messages
    private let seed: UInt64
    private let names: [BeaconIdentity: String]

    /// Creates a replay.
    ///
    /// - Parameters:
    ///   - venue: the venue, with beacons.
    ///   - particleCount: the number of particles of the tag.
    init(venue: Venue, messages: Messages, particleCount: Int, seed: UInt64) {
        var reversed = venue
        reversed.receivers = venue.beacons.enumerated().map { index, beacon in
            VenueReceiver(
                id: "gateway-\(index + 1)", identity: beacon.identity, mapID: beacon.mapID, point: beacon.point,
                z: beacon.z, measuredPower: beacon.measuredPower, pathLossExponent: beacon.pathLossExponent)
        }
        self.venue = reversed
        self.messages = messages
        self.seed = seed
        names = Dictionary(reversed.receivers.map { ($0.identity, $0.id) }, uniquingKeysWith: { first, _ in first })
        var settings = FleetSettings()
        // The time between two positions of a session.
        settings.classes["standard"] = FleetSettings.TagClass(
            particleCount: particleCount, positionInterval: .milliseconds(500))
        model = FleetModel(venue: reversed, settings: settings)
    }

    /// Returns the messages of all gateways about the device of a recording, in the order of their arrival.
    ///
    /// - Parameter passing: receives each reading; returns the readings in its place.
    /// - Throws: `RecordingError` if the recording is invalid.
    func messages(
        of path: String, strictness: RecordingReader.Strictness = .strict,
        passing: (SensorReading) -> [SensorReading] = { [$0] }
    ) throws(RecordingError) -> [GatewayMessage] {
        var reader = try RecordingReader(path: path, strictness: strictness)
        var filters: [String: MedianFilter] = [:]
        var result: [GatewayMessage] = []
        while let entry = try reader.next() {
            guard case .measurement(let measurement) = entry else { continue }
            for case .sighting(let sighting) in passing(measurement) where Sighting.isMeasurement(rssi: sighting.rssi) {
                guard let name = names[sighting.beacon] else { continue }
                switch messages {
                case .raw: result.append(raw(sighting, by: name))
                case .espresense:
                    if let rssi = filters[name, default: MedianFilter()].add(sighting.rssi, at: sighting.instant) {
                        result.append(filtered(rssi, at: sighting.instant, by: name))
                    }
                }
            }
        }
        return result
    }

    private func raw(_ sighting: Sighting, by name: String) -> GatewayMessage {
        let reading = Sighting(
            instant: sighting.instant, beacon: Self.tag, rssi: sighting.rssi, measuredPower: sighting.measuredPower)
        let payload = IndoorlocPayload(wallClock: WallClock(timeOfZero: Self.start), readings: [.sighting(reading)])
        return GatewayMessage(
            topic: IndoorlocPayload.topic(prefix: Self.prefix, gateway: name), payload: payload.encoded(),
            arrival: sighting.instant.advanced(by: Self.start))
    }

    private func filtered(_ rssi: Double, at instant: Instant, by name: String) -> GatewayMessage {
        let uuid = Self.tag.uuid.description.lowercased()
        let id = "iBeacon:\(uuid)-\(Self.tag.major)-\(Self.tag.minor)"
        let text = JSONText.number(rssi, decimals: 2)
        let payload = #"{"mac":"c3000012ab34","id":"\#(id)","rssi@1m":-59,"rssi":\#(text),"rxAdj":0}"#
        return GatewayMessage(
            topic: "espresense/devices/\(id)/\(name)", payload: Array(payload.utf8),
            arrival: instant.advanced(by: Self.start))
    }

    /// Returns the positions of the tag on the timeline of the recording.
    ///
    /// - Parameter end: the end of the recording, until which positions are emitted.
    func positions(from messages: [GatewayMessage], until end: Instant) -> [Position] {
        var intake = TagIntake(settings: model.settings)
        var machine = FleetMachine(model: model, seed: seed)
        var outputs: [FleetOutput] = []
        var rest = messages[...]
        guard var now = messages.first?.arrival else { return [] }
        let last = end.advanced(by: Self.start + model.settings.reorderWindow + .seconds(1))
        while now < last {
            now = now.advanced(by: Self.step)
            while let message = rest.first, message.arrival <= now {
                for reading in intake.readings(of: rest.removeFirst()) { machine.observe(reading) }
            }
            outputs += machine.advance(to: now)
        }
        return outputs.compactMap { output in
            guard case .position(var position) = output.content else { return nil }
            position.instant = position.instant.advanced(by: .zero - Self.start)
            return position
        }
    }
}

/// The filter of an ESPresense node: every 5 s, the median of 15 s without outliers.
///
/// Source: ESPresense, github.com/ESPresense/ESPresense, `src/BleFingerprint.cpp` and `include/defaults.h`.
private struct MedianFilter {
    private static let window = Duration.seconds(15)
    private static let interval = Duration.seconds(5)

    private var readings: [(instant: Instant, rssi: Double)] = []
    private var sent: Instant?

    /// Adds a reading; returns the RSSI to send, or nil if none is due.
    mutating func add(_ rssi: Double, at instant: Instant) -> Double? {
        readings.removeAll { $0.instant.duration(to: instant) >= Self.window }
        readings.append((instant, rssi))
        if let sent, sent.duration(to: instant) < Self.interval { return nil }
        sent = instant
        let sorted = readings.map(\.rssi).sorted()
        let (low, high) = (Self.quantile(sorted, 0.25), Self.quantile(sorted, 0.75))
        let margin = 1.5 * (high - low)
        return Self.quantile(sorted.filter { $0 >= low - margin && $0 <= high + margin }, 0.5)
    }

    /// The quantile of sorted values, interpolated.
    private static func quantile(_ values: [Double], _ share: Double) -> Double {
        let place = share * Double(values.count - 1)
        let index = Int(place)
        let next = min(index + 1, values.count - 1)
        return values[index] + (place - Double(index)) * (values[next] - values[index])
    }
}
