import CBench
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking

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
            waiting[reading.tag].append(Float(Self.start.duration(to: reading.instant).seconds))
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
        let time = Float(Self.start.duration(to: position.instant).seconds)
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
