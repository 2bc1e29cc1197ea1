import IndoorLocalization
import ScanRecording
import Synchronization

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
    /// Whether there is to be told how the device moves.
    var tellsMotion = false

    /// Plays the recording and hands on what the session tells.
    ///
    /// - Parameter passing: takes each reading before the session does, and may change it, or remove it with nil.
    /// - Returns: what was passed over in the recording.
    /// - Throws: what is wrong with the recording, or what `body` throws.
    func play(
        _ path: String, passing: (SensorReading) -> SensorReading? = { $0 },
        _ body: (SessionReplay.Output) throws -> Void
    ) async throws -> PassedOver {
        let isCapture = BTSnoopReader.isCapture(path: path)
        let tally = Mutex(isCapture ? PassedOver.capture(.init()) : .recording(.init()))
        let source: any ScanSource =
            isCapture
            ? BTSnoopSource(path: path, strictness: strictness) { passed in tally.withLock { $0 = .capture(passed) } }
            : RecordingSource(path: path, strictness: strictness) { passed in
                tally.withLock { $0 = .recording(passed) }
            }
        var replay = SessionReplay(
            venues: venues, settings: settings, seed: seed, fields: fields, tellsMotion: tellsMotion)
        try replay.startMonitoring(geofences)
        var hasStarted = false
        for try await recorded in source.readings() {
            let reading = passing(recorded)
            if !hasStarted {
                try replay.start().forEach(body)
                if var start {
                    start.instant = recorded.instant
                    try replay.handle(.fix(start)).forEach(body)
                }
            }
            hasStarted = true
            if let reading { try replay.handle(reading).forEach(body) }
        }
        if !hasStarted { try replay.start().forEach(body) }
        try replay.finish().forEach(body)
        return tally.withLock { $0 }
    }
}
