import BlueZScanning
import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

extension CommandOption {
    static let heard = CommandOption(
        name: "replay", argument: "FILE",
        help: "read this recording or capture instead of the radio; - is standard input"
    )
}

/// A receiver of a scanner's directives.
protocol ScannerListener {
    /// Called with the first reading.
    ///
    /// - Parameter unixTime: the wall-clock time at instant zero, in seconds since 1970 (UTC); nil if unknown.
    mutating func begin(unixTime: Double?)
    /// Handles a directive of the scanner.
    mutating func receive(_ directive: ScanMachine.Directive) throws
    /// Writes pending output; returns whether all of it is written.
    mutating func write() throws -> Bool
    /// Completes the output.
    mutating func end() throws
}

/// The source of a command that watches regions or rooms: the radio, or a recording.
///
/// Both drive the state machine of a ``BeaconScanner``. The radio's readings are handled as they arrive, with a tick
/// every half second. A recording's readings are handled as fast as they are read, with the recording's time. The radio
/// scans continuously, even if the settings have a duty cycle.
struct HeardSource: Sendable {
    /// The options that select the source.
    static let options: [CommandOption] = [.adapter, .route, .heard, .seconds, .lenient]

    private let radio: (adapter: AdapterChoice, route: ScanRoute?)
    private let recording: String?
    private let strictness: RecordingReader.Strictness
    private let limit: Duration?

    init(_ arguments: ParsedArguments) throws(UsageError) {
        radio = (try arguments.adapter(), try arguments.route())
        recording = arguments.value("replay").map(ParsedArguments.path)
        strictness = arguments.strictness
        limit = try arguments.limit()
        if let option = ["adapter", "route"].first(where: { arguments.has($0) && arguments.has("replay") }) {
            throw UsageError(
                message: "--\(option) can't be combined with --replay, which doesn't use the radio",
                command: arguments.syntax.name)
        }
    }

    /// Returns the settings with a radio that scans continuously.
    static func settings(_ settings: ScannerSettings) -> ScannerSettings {
        var continuous = settings
        continuous.dutyCycle = .continuous
        return continuous
    }

    /// Receives readings until the source ends, the time limit is reached or a signal interrupts it.
    ///
    /// - Parameters:
    ///   - prepare: sets up the regions and rooms to track.
    /// - Throws: the error that ended the source, or the listener's error.
    func listen(
        _ settings: ScannerSettings, _ listener: inout some ScannerListener,
        prepare: (inout ScanMachine) -> Void
    ) async throws {
        var run = ScannerRun(settings)
        prepare(&run.machine)
        if let recording {
            try replay(recording, &run, &listener)
            return try listener.end()
        }
        let source = try BluetoothScanSource(adapter: radio.adapter, route: radio.route, content: .beacons)
        StandardError.line("\(source.choice)", .info)
        // The adapter's earlier state is restored even after an error.
        var failure: (any Error)?
        do { try await listen(to: source, &run, &listener) } catch { failure = error }
        await source.released()
        if let failure { throw failure }
    }

    private func replay(
        _ path: String, _ run: inout ScannerRun, _ listener: inout some ScannerListener
    ) throws {
        let readings = try RecordedReadings(path: path, strictness: strictness)
        while let reading = try readings.next() {
            if let start = run.start, let limit, start.duration(to: reading.instant) >= limit { break }
            if run.start == nil {
                listener.begin(unixTime: readings.wallClock?.unixTime(at: reading.instant).seconds)
            }
            try run.receive(reading).forEach { try listener.receive($0) }
            // Writes immediately, so that a reader of a pipe receives each line without delay.
            try write(&listener)
        }
        try run.end().forEach { try listener.receive($0) }
        try write(&listener)
        if case .recording(let tally) = readings.tally, let warning = tally.warning(for: path) {
            StandardError.write(warning)
        }
    }

    /// Writes all pending output: unlike a radio, a recording can wait for a slow reader.
    private func write(_ listener: inout some ScannerListener) throws {
        while try !listener.write() { _ = FileDescriptor.isWritable(STDOUT_FILENO, within: -1) }
    }

    /// Receives the readings of a live source.
    func listen(
        to source: some ScanSource, _ run: inout ScannerRun, _ listener: inout some ScannerListener
    ) async throws {
        let work = LiveWork<SensorReading>(tick: .milliseconds(500), limit: limit) { give in
            for try await reading in source.readings() { give(reading) }
        }
        var failure = FirstFailure()
        do {
            try await work.follow { occurrence in
                switch occurrence {
                case .element(let reading):
                    if run.start == nil {
                        let time = source.wallClock?.unixTime(at: reading.instant).seconds
                        listener.begin(unixTime: time ?? Date().timeIntervalSince1970)
                    }
                    try run.receive(reading).forEach { try listener.receive($0) }
                case .tick: try run.tick().forEach { try listener.receive($0) }
                case .ended, .limitReached, .interrupted: break
                }
                return try listener.write()
            }
        } catch { failure.note(error) }
        await work.stop()
        // Output from before the error is kept.
        do { try listener.end() } catch { failure.note(error) }
        try failure.check()
    }
}

/// A scanner's state machine driven by a command; instants count from the first reading.
struct ScannerRun {
    var machine: ScanMachine
    private var decoder = ReadingDecoder()
    private var timeline = ScanTimeline()
    /// The instant of the first reading on the source's clock.
    private(set) var start: Instant?

    init(_ settings: ScannerSettings) { machine = ScanMachine(settings: settings, pace: .recorded, seed: 0) }

    /// Handles a reading.
    mutating func receive(_ reading: SensorReading) -> [ScanMachine.Directive] {
        start = start ?? reading.instant
        let rebased = timeline.rebase(reading)
        let begun = machine.isStarted ? [] : machine.handle(.start, at: rebased.instant)
        return begun + machine.handle(.reading(decoder.decode(rebased)), at: rebased.instant)
    }

    /// Handles the work that is due now.
    mutating func tick() -> [ScanMachine.Directive] {
        machine.isStarted ? machine.handle(.tick, at: timeline.now) : []
    }

    /// Handles the end of the source.
    mutating func end() -> [ScanMachine.Directive] { machine.handle(.sourceEnded, at: timeline.last) }
}

extension ScannerListener {
    mutating func begin(unixTime: Double?) {}

    /// Reports events of the radio and errors on standard error.
    ///
    /// - Throws: an error that ends the session.
    func reportTrouble(_ directive: ScanMachine.Directive) throws {
        switch directive {
        case .passOn(let event): StandardError.line("\(event)")
        case .report(let error):
            if error.endsSession { throw error }
            StandardError.line(error.message, .error, error.logFields)
        default: break
        }
    }
}

extension CommandOption {
    static let live = CommandOption(
        name: "live", argument: "ROOM",
        help: "train this room from the radio, or from gateways with --tag, until Ctrl-C or for --seconds"
    )
    static let pocket = CommandOption(name: "pocket", help: "with --live: the device is carried in a pocket or a bag")
}

/// The training of one room from live readings.
struct LiveTraining: Sendable {
    static let options: [CommandOption] = [.live, .pocket] + HeardSource.options.filter { $0.name != "lenient" }

    private let room: String
    private let placement: RoomFingerprint.Placement
    private let source: HeardSource

    /// Reads the options; returns nil without `--live`.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        guard let room = arguments.value("live") else {
            for option in Self.options where arguments.has(option.name) {
                throw UsageError(message: "--\(option.name) requires --live", command: arguments.syntax.name)
            }
            return nil
        }
        self.room = room
        placement = arguments.has("pocket") ? .pocket : .hand
        source = try HeardSource(arguments)
    }

    /// Collects one sample per second until the source ends, the time limit is reached or a signal interrupts it.
    ///
    /// - Parameter uuids: the UUIDs of the beacons to use.
    func train(with uuids: Set<BeaconUUID>) async throws -> RoomTrainingSet {
        var listener = Listener(room: room, placement: placement)
        try await source.listen(ScannerSettings(), &listener) { machine in
            for uuid in uuids.sorted(by: { $0.description < $1.description }) {
                _ = machine.regions.track(BeaconRegion(uuid: uuid), id: uuid.description)
            }
        }
        guard let fingerprint = listener.finish(), !fingerprint.samples.isEmpty else {
            let beacons = uuids.map(\.description).sorted().joined(separator: ", ")
            throw CommandError(description: "no beacon of \(beacons) was received in \(room); nothing was trained")
        }
        return RoomTrainingSet(rooms: [room: fingerprint])
    }

    /// Collects the samples and shows progress.
    private struct Listener: ScannerListener {
        let room: String
        let placement: RoomFingerprint.Placement
        private var trainer: RoomTrainer?
        private let progress = ProgressLine()

        init(room: String, placement: RoomFingerprint.Placement) {
            self.room = room
            self.placement = placement
        }

        mutating func begin(unixTime: Double?) {
            let start = unixTime ?? 0
            trainer = RoomTrainer(room: room, regionID: nil, placement: placement) { start + $0.seconds }
        }

        mutating func receive(_ directive: ScanMachine.Directive) throws {
            guard case .emitRanging(let ranging) = directive else { return try reportTrouble(directive) }
            guard trainer?.observe(ranging) == true, let step = trainer?.progress else { return }
            progress.show(
                "\(room): \(step.sampleCount) of \(FingerprintQuality.neededSamples) samples, "
                    + "\(step.beacons.count) beacons")
        }

        mutating func write() throws -> Bool { true }

        mutating func end() throws { progress.clear() }

        mutating func finish() -> RoomFingerprint? { trainer?.finish() }
    }
}
