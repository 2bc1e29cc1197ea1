import IndoorLocalization
import ScanRecording

/// A session over a recording or a Bluetooth capture, as the file's content tells.
struct RecordedSession: Sendable {
    var venues: [Venue]
    var settings = SettingsStack()
    var seed: UInt64 = 0
    var strictness = RecordingReader.Strictness.strict
    /// Tables made before, to share them between sessions.
    var fields: [VenueID: SignalField] = [:]
    /// Where the device is at the first reading; nil if nobody says.
    var start: Fix?
    /// What is watched beside the fences of the venues.
    var geofences: [Geofence] = []
    /// Of beacons that are not known anyway.
    var layouts: [BeaconLayout] = []
    /// Whether the device that the recording names is expected.
    var expectsDevice = true
    /// Whether there is to be told how the device moves.
    var tellsMotion = false

    /// Plays the recording and hands on what the session tells.
    ///
    /// The file is opened once and read as it goes, so that it may be a pipe.
    /// - Parameters:
    ///   - truth: takes the ground truth, and the session as it is before what comes after.
    ///   - passing: takes each reading before the session does, and may change it, or remove it with nil.
    /// - Returns: what was passed over in the recording.
    /// - Throws: what is wrong with the recording, or what `body` throws.
    func play(
        _ path: String, truth: (Truth, SessionReplay) -> Void = { _, _ in },
        passing: (SensorReading) -> SensorReading? = { $0 }, _ body: (SessionReplay.Output) throws -> Void
    ) throws -> RecordedReadings.Tally {
        let readings = try RecordedReadings(path: path, strictness: strictness)
        // The header, with the device's name, comes before the first reading.
        var early: [Truth] = []
        var next = try readings.next(truth: { early.append($0) })
        var replay = SessionReplay(
            venues: venues, settings: expectsDevice ? settings.expecting(device: readings.device) : settings,
            seed: seed, fields: fields, tellsMotion: tellsMotion)
        replay.wallClock = readings.wallClock
        for place in early { truth(place, replay) }
        try replay.startMonitoring(geofences)
        var cut = dutyCycleCut
        var hasStarted = false
        // A recording that ends in a rest goes on to its end.
        var end: Instant?
        while let recorded = next {
            if cut != nil { end = recorded.instant }
            let reading = passing(recorded)
            if !hasStarted {
                try replay.start().forEach(body)
                if var start {
                    start.instant = recorded.instant
                    try replay.handle(.fix(start)).forEach(body)
                }
            }
            hasStarted = true
            if case .radio(let event) = reading, event.status == .resting { cut = nil }  // it was made in passes
            let heard = reading.map { cut?.handle($0) ?? [$0] } ?? []
            for reading in heard {
                try replay.handle(reading).forEach(body)
                if let sighting = layouts.sighting(in: reading) { try replay.handle(.sighting(sighting)).forEach(body) }
            }
            next = try readings.next(truth: { truth($0, replay) })
        }
        if !hasStarted { try replay.start().forEach(body) }
        try replay.finish(at: end).forEach(body)
        return readings.tally
    }

    /// What leaves out of the recording what the settings' duty cycle would have missed; nil if they give none.
    private var dutyCycleCut: DutyCycleCut? {
        let cycle = ScanSchedule(settings).cycle
        return cycle.isContinuous || !cycle.problems.isEmpty ? nil : DutyCycleCut(cycle)
    }
}

extension SettingsStack {
    /// The same settings, of the device that made a recording, unless they say which device it is, or that it is any.
    func expecting(device: String?) -> SettingsStack {
        guard let device, !isGiven("device") else { return self }
        var stack = self
        try? stack.override("device", .string(device), place: "the recording's header")
        stack.apply()
        return stack
    }
}
