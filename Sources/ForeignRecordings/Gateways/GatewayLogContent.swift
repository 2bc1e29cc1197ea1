import IndoorVocabulary
import TagTracking
import VenueModel

/// The messages of gateways, as `mosquitto_sub -v` prints them.
struct GatewayLogContent: RecordContent {
    private let settings: ForeignRecordingSettings
    private let decoder = GatewayDecoder(keepsAdvertisingData: true)
    private var broadcasters = BroadcasterMessages()
    private var receiver: String?
    /// The time assigned to the latest message that states none.
    private var spaced: ForeignTime?
    /// The time that the settings give to the current line; nil before it is needed.
    private var given: ForeignTime?

    init(_ settings: ForeignRecordingSettings) {
        self.settings = settings
        receiver = settings.receiver
    }

    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem) {
        given = nil
        guard let line = GatewayLogLine(record, zoneOffset: settings.zoneOffset) else {
            throw ForeignProblem(nil, .malformed("expected a topic, a space and a payload"))
        }
        if let value = BroadcasterValue(line) {
            if value.name == nil { output.ignore("other values of ble2mqtt") }
            // Only the RSSI has a time.
            let time = value.name != .rssi ? nil : line.time != nil ? line.time : try givenTime()
            let complete = try broadcasters.add(value, at: time)
            for (reading, time) in complete where try isWanted(reading, &output) {
                add(reading, at: time, into: &output)
            }
            return
        }
        let readings: [GatewayReading]
        do throws(GatewayError) {
            readings = try decoder.readings(topic: line.topic, payload: line.payload)
        } catch {
            guard error.format != nil else { return output.ignore("messages of no known gateway") }
            throw ForeignProblem(nil, .malformed("\(error)"))
        }
        for reading in readings where try isWanted(reading, &output) {
            add(reading, at: try time(of: reading, line), into: &output)
        }
    }

    mutating func finish(into output: inout ForeignOutput) throws(ForeignProblem) {
        for (reading, time) in broadcasters.finish() where try isWanted(reading, &output) {
            add(reading, at: time, into: &output)
        }
    }

    /// Returns whether a reading belongs to the recording, and counts it otherwise.
    private mutating func isWanted(
        _ reading: GatewayReading, _ output: inout ForeignOutput
    ) throws(ForeignProblem) -> Bool {
        if let tag = settings.tag {
            if reading.isOf(tag) { return true }
            output.ignore("readings of other tags")
        } else {
            if try isWanted(reading.receiver) { return true }
            output.ignore("readings of other receivers")
        }
        return false
    }

    private func add(_ reading: GatewayReading, at time: ForeignTime, into output: inout ForeignOutput) {
        if settings.tag != nil {
            output.add(VenueReceiver.identity(for: reading.receiver), nil, rssi: reading.rssi, at: time)
        } else if reading.address != nil, !reading.advertisingData.isEmpty {
            output.add(advertising: reading.advertisingData, reading.address, rssi: reading.rssi, at: time)
        } else {
            output.add(reading.beacon, reading.address, rssi: reading.rssi, power: reading.measuredPower, at: time)
        }
    }

    /// Returns whether a receiver's readings are those of the recording.
    private mutating func isWanted(_ name: String) throws(ForeignProblem) -> Bool {
        guard let receiver else {
            receiver = name
            return true
        }
        if name == receiver { return true }
        guard settings.receiver == nil else { return false }
        let names = "\"\(receiver.prefix(60))\" and \"\(name.prefix(60))\""
        throw ForeignProblem(
            "receiver",
            .unsupported(
                "changes, but a recording has one: the log has messages of \(names)",
                remedy: "Select what one receiver heard with --receiver, or how one tag was heard with --tag"),
            endsFile: true)
    }

    /// Returns the time before the topic, or else the time in the message, or else the time that the settings give.
    private mutating func time(of reading: GatewayReading, _ line: GatewayLogLine) throws(ForeignProblem) -> ForeignTime
    {
        if let time = line.time { return time }
        if let time = reading.time, time.nanoseconds > 100_000_000_000_000_000 {
            let unix = ForeignTime(nanoseconds: time.nanoseconds, isUnix: true)
            guard time.isLocal else { return unix }
            guard let shifted = ForeignTimeFormat.local(unix, settings.zoneOffset) else {
                throw ForeignProblem("time", .timeOutOfRange)
            }
            return shifted
        }
        return try givenTime()
    }

    /// Returns the time that the settings give to the current line.
    private mutating func givenTime() throws(ForeignProblem) -> ForeignTime {
        if let given { return given }
        let time = try nextTime()
        given = time
        return time
    }

    /// Returns the time of a line whose message has none.
    private mutating func nextTime() throws(ForeignProblem) -> ForeignTime {
        if let arrival = settings.arrival { return ForeignTime(nanoseconds: arrival().nanoseconds, isUnix: true) }
        guard let spacing = settings.spacing else {
            throw ForeignProblem(
                "time",
                .unsupported(
                    "is missing, in the line and in the message",
                    remedy:
                        "Print it with `mosquitto_sub -F '%U %t %p'`, or give the time between messages with --spacing"),
                endsFile: true)
        }
        let earlier = spaced.map { Instant(nanoseconds: $0.nanoseconds).advanced(by: spacing) }
        let time = ForeignTime(nanoseconds: earlier?.nanoseconds ?? 0, isUnix: false)
        spaced = time
        return time
    }
}

extension GatewayReading {
    /// Returns whether the reading is of a tag with this address, beacon, identifier or name.
    fileprivate func isOf(_ tag: String) -> Bool {
        if identifier == tag || name == tag { return true }
        if let address, address.rawValue == FieldText.address(tag)?.rawValue { return true }
        return beacon != nil && beacon == FieldText.identity(tag)
    }
}

/// A line of `mosquitto_sub -v`: the topic and the payload, with or without a time before them.
struct GatewayLogLine: Hashable, Sendable {
    /// The time before the topic, as the format `%U` or `%I` of `mosquitto_sub -F` prints it; nil without one.
    var time: ForeignTime?
    /// The topic.
    var topic: String
    /// The payload.
    var payload: [UInt8]

    /// Reads a line; returns nil if it doesn't have a topic and a payload.
    ///
    /// - Parameter zoneOffset: returns the offset from UTC in seconds of a local time; nil for UTC.
    init?(_ line: [UInt8], zoneOffset: (@Sendable (Int64) -> Int64)? = nil) {
        var rest = line[...]
        if rest.last == 0x0D { rest.removeLast() }
        if let space = rest.firstIndex(of: 0x20),
            let time = ForeignTime.text(String(decoding: rest[..<space], as: UTF8.self), zoneOffset: zoneOffset),
            time.isUnix
        {
            self.time = time
            rest = rest[(space + 1)...]
        }
        // A topic may contain spaces, and a payload of JSON begins with a bracket.
        let json = rest.indices.dropLast().first { index in
            rest[index] == 0x20 && (rest[index + 1] == UInt8(ascii: "{") || rest[index + 1] == UInt8(ascii: "["))
        }
        guard let end = json ?? rest.firstIndex(of: 0x20), end > rest.startIndex, end + 1 < rest.endIndex else {
            return nil
        }
        topic = String(decoding: rest[..<end], as: UTF8.self)
        payload = Array(rest[(end + 1)...])
    }

    /// Whether the line can be one of a gateway's log: the topic has levels or no spaces, and the payload is JSON.
    var isPlausible: Bool {
        (topic.utf8.contains(UInt8(ascii: "/")) || !topic.utf8.contains(0x20))
            && (payload.first == UInt8(ascii: "{") || payload.first == UInt8(ascii: "["))
    }
}
