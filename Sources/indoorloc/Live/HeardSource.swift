import BlueZScanning
import Foundation
import IndoorLocalization
import ScanRecording

extension CommandOption {
    static let heard = CommandOption(
        name: "replay", argument: "FILE", help: "hear this recording or capture, or - for standard input, not the radio"
    )
}

/// Takes what a scanner tells, while it goes on.
protocol ScannerListener {
    /// The first reading is there: the time of the wall clock at instant zero, in seconds since 1970, UTC; nil if unknown.
    mutating func begin(unixTime: Double?)
    /// Takes in what the scanner tells.
    mutating func take(_ directive: ScanMachine.Directive) throws
    /// Writes what there is; returns whether all of it is written.
    mutating func write() throws -> Bool
    /// Completes what was written.
    mutating func end() throws
}

/// What a command hears that watches regions or rooms: the radio, or a recording.
///
/// Both go through the machine of a ``BeaconScanner``: the radio's readings as they come, with a tick every half second; a
/// recording's as fast as they are read, its time passing with them. The radio listens all the time, whatever the settings
/// say of its duty cycle: a command that watches has nothing to save.
struct HeardSource: Sendable {
    /// The options that choose it.
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
                message: "--\(option) is of the radio, which --replay does not use", command: arguments.syntax.name)
        }
    }

    /// Settings for a scanner that listens all the time.
    static func settings(_ settings: ScannerSettings) -> ScannerSettings {
        var continuous = settings
        continuous.dutyCycle = .continuous
        return continuous
    }

    /// Hears until the source ends, the time limit is reached or somebody interrupts it.
    ///
    /// - Parameters:
    ///   - prepare: tracks what is to be heard.
    /// - Throws: what ended the source, or what the listener throws.
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
        StandardError.line("\(source.choice)")
        // Whatever happens, the adapter is given back as it was found.
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
            try run.take(reading).forEach { try listener.take($0) }
            // Whoever reads behind a pipe wants each line when it is there.
            try write(&listener)
        }
        try run.end().forEach { try listener.take($0) }
        try write(&listener)
        if case .recording(let tally) = readings.tally, let warning = tally.warning(for: path) {
            StandardError.write(warning)
        }
    }

    /// Writes all that there is: unlike a radio, a recording can wait for whoever reads.
    private func write(_ listener: inout some ScannerListener) throws {
        while try !listener.write() { _ = FileDescriptor.takes(STDOUT_FILENO, within: -1) }
    }

    /// Hears a live source.
    func listen(
        to source: some ScanSource, _ run: inout ScannerRun, _ listener: inout some ScannerListener
    ) async throws {
        let work = LiveWork<SensorReading>(tick: .milliseconds(500), limit: limit) { give in
            for try await reading in source.readings() { give(reading) }
        }
        var failure: (any Error)?
        do {
            try await work.follow { occurrence in
                switch occurrence {
                case .element(let reading):
                    if run.start == nil {
                        let time = source.wallClock?.unixTime(at: reading.instant).seconds
                        listener.begin(unixTime: time ?? Date().timeIntervalSince1970)
                    }
                    try run.take(reading).forEach { try listener.take($0) }
                case .tick: try run.tick().forEach { try listener.take($0) }
                case .ended, .limitReached, .interrupted: break
                }
                return try listener.write()
            }
        } catch { failure = error }
        await work.stop()
        // What was heard before an error is not lost.
        do { try listener.end() } catch { failure = failure ?? error }
        if let failure, (failure as? OutputError)?.isBrokenPipe != true { throw failure }
    }
}

/// The machine of a scanner in the hands of a command, its instants counted from the first reading.
struct ScannerRun {
    var machine: ScanMachine
    private var decoder = ReadingDecoder()
    private var timeline = ScanTimeline()
    /// When the first reading was made, as the source counts.
    private(set) var start: Instant?

    init(_ settings: ScannerSettings) { machine = ScanMachine(settings: settings, pace: .recorded, seed: 0) }

    /// Takes in a reading.
    mutating func take(_ reading: SensorReading) -> [ScanMachine.Directive] {
        start = start ?? reading.instant
        let rebased = timeline.rebase(reading)
        let begun = machine.isStarted ? [] : machine.handle(.start, at: rebased.instant)
        return begun + machine.handle(.reading(decoder.decode(rebased)), at: rebased.instant)
    }

    /// Does what is due by now.
    mutating func tick() -> [ScanMachine.Directive] {
        machine.isStarted ? machine.handle(.tick, at: timeline.now) : []
    }

    /// The source has ended.
    mutating func end() -> [ScanMachine.Directive] { machine.handle(.sourceEnded, at: timeline.last) }
}

extension ScannerListener {
    mutating func begin(unixTime: Double?) {}

    /// Tells what every command tells: trouble of the radio, and errors.
    func tellTrouble(_ directive: ScanMachine.Directive) throws {
        switch directive {
        case .passOn(let event): StandardError.line("\(event)")
        case .report(let error):
            if error.endsSession { throw error }
            StandardError.line(error.message)
        default: break
        }
    }
}
