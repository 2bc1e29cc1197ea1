// Treats any bytes as a line with a format and a topic, and a gateway's message: decoding must not trap, its readings must
// be measurements of a named tag by a named receiver, and the same bytes must give the same result. The message then goes
// through an intake several times, whose tables must obey their limits. The topic is also read as a filter.
import IndoorVocabulary
import TagTracking
import TagTrackingService

func fuzzGateway(_ bytes: [UInt8]) throws(Finding) {
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
    let payload = Array(bytes.dropFirst(line.count + 1))
    let topic = words.count > 1 ? String(decoding: words[1], as: UTF8.self) : ""
    // The decoder detects the format if the first word is none.
    let format = words.first.flatMap { GatewayFormat(rawValue: String(decoding: $0, as: UTF8.self)) }
    let result = decode(topic, payload, format)
    guard decode(topic, payload, format) == result else { throw Finding("\(result) differs from a second result") }
    try check(topic)
    try check(topic, payload)
    switch result {
    case .success(let readings):
        for reading in readings {
            guard Sighting.isMeasurement(rssi: reading.rssi) else {
                throw Finding("\(reading) does not contain an RSSI")
            }
            guard !reading.receiver.isEmpty, reading.window >= .zero,
                reading.address != nil || reading.beacon != nil || reading.identifier?.isEmpty == false
                    || reading.name?.isEmpty == false
            else { throw Finding("\(reading) does not name its receiver and its tag") }
            guard reading.channel.map({ (37...39).contains($0) }) != false else {
                throw Finding("\(reading) has no channel")
            }
            guard reading.measuredPower.map({ (-168..<0).contains($0) }) != false else {
                throw Finding("\(reading) has an impossible power")
            }
        }
    case .failure(let error):
        guard (0...payload.count).contains(error.offset ?? 0), !error.message.isEmpty else {
            throw Finding("\(error) does not state its place")
        }
    }
}

private func decode(
    _ topic: String, _ payload: [UInt8], _ format: GatewayFormat?
) -> Result<[GatewayReading], GatewayError> {
    do throws(GatewayError) {
        return .success(try GatewayDecoder().readings(topic: topic, payload: payload, format: format))
    } catch {
        return .failure(error)
    }
}

/// Checks a topic as the filter of a setting.
private func check(_ text: String) throws(Finding) {
    switch Result(catching: { () throws(GatewayFilterError) in try GatewayFilter(text: text) }) {
    case .success(let filter):
        guard !filter.filter.isEmpty, !filter.filter.utf8.contains(0) else {
            throw Finding("\(filter) is not a filter")
        }
    case .failure(let error):
        if error.description.isEmpty { throw Finding("an error does not describe its problem") }
    }
}

/// Passes a message through an intake, with the clock of its receiver, repetitions, and arrivals at any time.
private func check(_ topic: String, _ payload: [UInt8]) throws(Finding) {
    var limits = TagIntake.Limits()
    (limits.receivers, limits.links, limits.pairs, limits.problems, limits.events) = (2, 2, 4, 2, 2)
    var intake = TagIntake(limits: limits)
    for seconds in [1_700_000_000.0, 1_700_000_000, 1_700_000_003, 0, -9.3e9, 9.3e9, 1_700_000_090] {
        let message = GatewayMessage(topic: topic, payload: payload, arrival: Instant(seconds: seconds))
        for reading in intake.readings(of: message) {
            guard Sighting.isMeasurement(rssi: reading.rssi), reading.window >= .zero,
                (1...TagIntake.longestReceiver).contains(reading.receiver.utf8.count)
            else { throw Finding("\(reading) is not a reading of a tag") }
            guard (try? TagReading(decoding: reading.encoded())) == reading else {
                throw Finding("\(reading) does not read back equal")
            }
        }
    }
    let counts = intake.counts
    guard counts.receivers <= 2, counts.links <= 2, counts.pairs <= 4, counts.problems <= 2,
        intake.drainEvents().count <= 2
    else { throw Finding("\(counts) does not obey the limits") }
}
