import CBench
import Foundation
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking
import TextFormats

/// A part of the simulated tags, on one core: their messages pass through the decoder and a fleet machine.
///
/// The simulation runs as fast as the core allows. Its clock is that of the simulated tags, and the results lag behind
/// it by the processor time that the work needs. The lag of a core grows if it needs more than a second for a second of
/// messages.
struct LoadWorker {
    /// The settings of a measurement.
    struct Settings: Sendable {
        var tags = 100_000
        var receivers = 200
        var seconds = 60
        /// The seconds before the measured ones, in which the tags' sessions begin.
        var warmUp = 10
        var tagClass = "light"
        /// The time between two advertisements of a tag in seconds.
        var interval = 1.0
        var seed: UInt64 = 0

        /// The settings of the fleet.
        var fleet: FleetSettings {
            var fleet = FleetSettings()
            fleet.defaultClass = tagClass
            fleet.maximumTagCount = max(fleet.maximumTagCount, tags)
            fleet.maximumPendingReadings = max(fleet.maximumPendingReadings, tags * 20)
            return fleet
        }
    }

    /// The result of a core.
    struct Result: Sendable {
        /// The machine with its tags, which holds the memory to measure.
        var machine: FleetMachine
        var tags: Int
        /// The allocated bytes of the machine.
        var memory = 0
        /// The advertisements and the readings of them in the measured time.
        var advertisements = 0
        var readings = 0
        var positions = 0
        /// The processor time in seconds.
        var decoding = 0.0
        var positioning = 0.0
        var latencies = LoadHistogram()
        /// The largest lag, and that at the end, in seconds.
        var largestLag = 0.0
        var lastLag = 0.0
    }

    /// The time between two calls of the machine in seconds, similar to that of a service.
    private static let step = 0.1
    /// 1 January 2026, 0:00 UTC.
    private static let start = Instant(seconds: 1_767_225_600)

    /// A simulation without tags.
    private static var nothing: SimulatedFleetSettings {
        var settings = SimulatedFleetSettings()
        settings.tagCount = 0
        return settings
    }

    private let settings: Settings
    private let venue: Venue
    /// The number of the first tag, and the number of tags.
    private let firstTag: Int
    private let count: Int
    private let decoder = GatewayDecoder()
    private var fleet: SimulatedFleet
    private var result: Result
    /// The times of the readings of each tag without a position, in seconds after the start.
    private var waiting: [[Float]]
    /// The time at which the core has done its work, in seconds after the start.
    private var finished = 0.0
    /// The bytes that this thread had allocated before the machine.
    private let allocated: Int64

    /// Creates a worker on the thread that runs it.
    ///
    /// - Parameters:
    ///   - model: the model of all workers.
    ///   - tags: the numbers of the worker's tags.
    init(_ settings: Settings, _ model: FleetModel, tags: Range<Int>) {
        allocated = cbench_bytes()
        self.settings = settings
        venue = model.venue
        firstTag = tags.lowerBound
        count = tags.count
        var simulation = SimulatedFleetSettings()
        simulation.tagCount = tags.count
        simulation.seed = settings.seed &+ UInt64(tags.lowerBound)
        simulation.advertisingInterval = settings.interval
        simulation.range = LoadVenue.range
        fleet = SimulatedFleet(venue: venue, settings: simulation, start: Self.start)
        result = Result(machine: FleetMachine(model: model, seed: settings.seed), tags: tags.count)
        waiting = Array(repeating: [], count: tags.count)
    }

    /// Runs the simulation.
    ///
    /// - Throws: `GatewayError` if the decoder rejects a message.
    mutating func run() throws(GatewayError) -> Result {
        let first = Int(Double(settings.warmUp) / Self.step)
        for index in 0..<first { try step(index, isMeasured: false) }
        // The lag of the first seconds, with the start of all sessions, isn't that of the measured ones.
        finished = 0
        for index in first..<first + Int(Double(settings.seconds) / Self.step) { try step(index, isMeasured: true) }
        fleet = SimulatedFleet(venue: venue, settings: Self.nothing)
        waiting = []
        result.memory = Int(cbench_bytes() - allocated)
        result.advertisements = Int(Double(count * settings.seconds) / settings.interval)
        return result
    }

    private mutating func step(_ index: Int, isMeasured: Bool) throws(GatewayError) {
        let end = Double(index + 1) * Self.step
        let now = Self.start.advanced(by: .seconds(end))
        let simulated = fleet.readings(until: now)
        let messages = simulated.map { reading in
            LoadMessage(
                reading, tag: UInt32(firstTag + reading.tag), receiver: venue.receivers[reading.receiver].id)
        }
        let begin = Self.processorTime
        var readings: [TagReading] = []
        readings.reserveCapacity(messages.count)
        for (message, source) in zip(messages, simulated) {
            for reading in try decoder.readings(topic: message.topic, payload: message.payload) {
                guard let beacon = reading.beacon else { continue }
                readings.append(
                    TagReading(
                        tag: .beacon(beacon), receiver: reading.receiver, instant: source.instant, rssi: reading.rssi,
                        window: reading.window, measuredPower: reading.measuredPower))
            }
        }
        let decoded = Self.processorTime
        for reading in readings { result.machine.observe(reading) }
        let outputs = result.machine.advance(to: now)
        let done = Self.processorTime
        finished = max(finished, end) + (done - begin)
        for reading in simulated {
            waiting[reading.tag].append(Float(Self.start.seconds(to: reading.instant)))
        }
        for output in outputs { note(output, isMeasured) }
        guard isMeasured else { return }
        result.readings += readings.count
        result.decoding += decoded - begin
        result.positioning += done - decoded
        result.lastLag = finished - end
        result.largestLag = max(result.largestLag, finished - end)
    }

    /// Adds the latencies of the readings that a position uses.
    private mutating func note(_ output: FleetOutput, _ isMeasured: Bool) {
        guard case .position(let position) = output.content, let tag = LoadMessage.tag(of: output.tag) else { return }
        let index = Int(tag) - firstTag
        let time = Float(Self.start.seconds(to: position.instant))
        if isMeasured {
            result.positions += 1
            for reading in waiting[index] where reading <= time { result.latencies.add(finished - Double(reading)) }
        }
        waiting[index].removeAll { $0 <= time }
    }

    /// The processor time of this thread in seconds.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// A generated building with receivers in a regular grid, for a measurement of the load.
enum LoadVenue {
    /// The distance between two receivers in metres.
    private static let spacing = 10.0
    /// The largest number of receivers on a floor: five rows of ten.
    private static let most = 50
    private static let columns = 10

    /// The range in metres within which receivers receive a tag. With the losses of the radio channel, about four
    /// receivers receive each advertisement.
    static let range = 14.0

    /// Creates a building with as few floors as possible, of equal size, 100 × 50 m or less.
    static func venue(receivers: Int) -> Venue {
        let floors = (receivers + most - 1) / most
        let perFloor = (receivers + floors - 1) / floors
        let columns = min(columns, perFloor)
        let rows = (perFloor + columns - 1) / columns
        let maps = (0..<floors).map { floor in
            VenueMap(
                id: MapID(rawValue: floor + 1), name: "Floor \(floor)", level: floor,
                width: spacing * Double(columns), height: spacing * Double(rows))
        }
        let list = (0..<receivers).map { index in
            let place = index % perFloor
            return VenueReceiver(
                id: name(of: index),
                identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 0, minor: UInt16(index)),
                mapID: MapID(rawValue: index / perFloor + 1),
                point: MapPoint(
                    x: spacing * (Double(place % columns) + 0.5), y: spacing * (Double(place / columns) + 0.5)))
        }
        return Venue(id: 1, name: "Load", maps: maps, receivers: list)
    }

    /// The name of a receiver: the address by which its messages name it.
    private static func name(of index: Int) -> String {
        DeviceAddress(rawValue: 0xC000_0000_0000 | UInt64(index)).description
    }
}

/// The message of a simulated reading, as a Ruuvi Gateway publishes it over MQTT.
///
/// The format has the raw RSSI of each advertisement. The tag advertises as iBeacon; major and minor are its number.
struct LoadMessage {
    /// The UUID of all simulated tags.
    static let uuid = BeaconUUID(high: 0x1D00_FEED_0000_4000, low: 0x8000_0000_0000_0002)
    /// The tag's signal strength at 1 m that it advertises, in dBm.
    private static let power: Int8 = -62

    let topic: String
    let payload: [UInt8]

    /// Creates the message of a reading.
    ///
    /// - Parameter tag: the number of the tag in the whole fleet.
    init(_ reading: SimulatedFleet.Reading, tag: UInt32, receiver: String) {
        let address = DeviceAddress(rawValue: 0xD000_0000_0000 | UInt64(tag)).description
        topic = "ruuvi/\(receiver)/\(address)"
        var data = "0201061AFF4C000215" + Self.hex(Self.uuid.high, 16) + Self.hex(Self.uuid.low, 16)
        data += Self.hex(UInt64(tag), 8) + Self.hex(UInt64(UInt8(bitPattern: Self.power)), 2)
        let time = reading.instant.nanoseconds / 1_000_000_000
        let rssi = Int(reading.rssi.rounded())
        payload = Array(
            """
            {"gw_mac":"\(receiver)","rssi":\(rssi),"aoa":[],"gwts":\(time),"ts":\(time),"data":"\(data)","coords":""}
            """.utf8)
    }

    private static func hex(_ value: UInt64, _ digits: Int) -> String {
        HexDigits.text(value, digits, uppercase: true)
    }

    /// Returns the number of a simulated tag; nil for any other.
    static func tag(of key: TagKey) -> UInt32? {
        guard case .beacon(let identity) = key, identity.uuid == uuid else { return nil }
        return UInt32(identity.major) << 16 | UInt32(identity.minor)
    }
}

/// The figures of a measurement of the load, from the results of all cores.
struct LoadReport: Sendable {
    let settings: LoadWorker.Settings
    let cores: Int
    let floors: Int
    /// The physical memory of the process in bytes, with the simulation.
    let residentMemory: Int
    private let machineMemory: Int
    private let advertisements: Int
    private let readings: Int
    private let positions: Int
    private let decoding: Double
    private let positioning: Double
    private let latencies: LoadHistogram
    private let largestLag: Double
    private let lastLag: Double
    private let busiest: Double

    init(_ results: [LoadWorker.Result], _ settings: LoadWorker.Settings, floors: Int, residentMemory: Int) {
        self.settings = settings
        self.floors = floors
        self.residentMemory = residentMemory
        machineMemory = results.reduce(0) { $0 + $1.memory }
        cores = results.count
        advertisements = results.reduce(0) { $0 + $1.advertisements }
        readings = results.reduce(0) { $0 + $1.readings }
        positions = results.reduce(0) { $0 + $1.positions }
        decoding = results.reduce(0) { $0 + $1.decoding }
        positioning = results.reduce(0) { $0 + $1.positioning }
        var latencies = LoadHistogram()
        for result in results { latencies.add(result.latencies) }
        self.latencies = latencies
        largestLag = results.map(\.largestLag).max() ?? 0
        lastLag = results.map(\.lastLag).max() ?? 0
        busiest = (results.map { $0.decoding + $0.positioning }.max() ?? 0) / Double(settings.seconds)
    }

    /// The number of tags that one core can locate at the measured rate: with this number, it needs one second for one
    /// second of readings.
    var tagsPerCore: Double {
        Double(settings.tags) * Double(settings.seconds) / max(decoding + positioning, 1e-9)
    }

    /// The lines of the report.
    var text: String {
        let perReading = { (seconds: Double) in Self.number(seconds / Double(max(readings, 1)) * 1e6, 2) + " us" }
        let perAdvertisement = Double(readings) / Double(max(advertisements, 1))
        let lines: [(String, String)] = [
            ("class", settings.tagClass),
            ("tags", "\(settings.tags), an advertisement every \(Self.number(settings.interval, 2)) s"),
            ("receivers", "\(settings.receivers) on \(floors) floors"),
            ("cores", "\(cores)"),
            ("measured", "\(settings.seconds) s after a warm-up of \(settings.warmUp) s"),
            ("readings", "\(readings), \(Self.number(perAdvertisement, 2)) per advertisement"),
            ("positions", "\(positions)"),
            ("decoder", "\(perReading(decoding)) per reading"),
            ("positioning", "\(perReading(positioning)) per reading"),
            ("one core", "\(Self.number(Double(readings) / max(decoding + positioning, 1e-9), 0)) readings per second"),
            ("tags per core", "\(Self.number(tagsPerCore, 0)) at this rate"),
            ("load", "\(Self.number(busiest * 100, 1)) % of the busiest core"),
            ("latency", "p50 \(quantile(0.5)), p99 \(quantile(0.99)) from a reading to its position"),
            ("lag", "at most \(Self.number(largestLag, 2)) s, \(Self.number(lastLag, 2)) s at the end"),
            ("memory", "\(machineMemory / max(settings.tags, 1)) bytes per tag, \(machineMemory >> 20) MiB for all"),
            ("process", "\(residentMemory >> 20) MiB resident, with the simulation"),
        ]
        let width = lines.map(\.0.count).max() ?? 0
        return lines.map { name, value in
            name + String(repeating: " ", count: width - name.count + 2) + value + "\n"
        }.joined()
    }

    private func quantile(_ share: Double) -> String {
        latencies.quantile(share).map { Self.number($0, 2) + " s" } ?? "unknown"
    }

    private static func number(_ value: Double, _ decimals: Int) -> String { String(format: "%.\(decimals)f", value) }
}

/// The numbers of durations in steps of 10 ms, up to a minute.
struct LoadHistogram: Sendable {
    private static let step = 0.01
    private var counts = [Int](repeating: 0, count: 6001)
    private(set) var count = 0

    /// Adds a duration in seconds.
    mutating func add(_ seconds: Double) {
        counts[min(max(Int(seconds / Self.step), 0), counts.count - 1)] += 1
        count += 1
    }

    mutating func add(_ other: LoadHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        count += other.count
    }

    /// Returns the upper end in seconds of the step in which a share of the durations ends; nil without durations.
    func quantile(_ share: Double) -> Double? {
        guard count > 0 else { return nil }
        let rank = max(1, Int((Double(count) * share).rounded(.up)))
        var sum = 0
        for (index, number) in counts.enumerated() {
            sum += number
            if sum >= rank { return Double(index + 1) * Self.step }
        }
        return nil
    }
}
