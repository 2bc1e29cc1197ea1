// Treats any bytes as a line with a format and a topic, and a gateway's message: decoding must not trap, its readings must
// be measurements of a named tag by a named receiver, and the same bytes must give the same result.
import IndoorVocabulary
import TagTracking

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzGateway(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
    let payload = Array(bytes.dropFirst(line.count + 1))
    let topic = words.count > 1 ? String(decoding: words[1], as: UTF8.self) : ""
    // The decoder detects the format if the first word is none.
    let format = words.first.flatMap { GatewayFormat(rawValue: String(decoding: $0, as: UTF8.self)) }
    let result = decode(topic, payload, format)
    guard decode(topic, payload, format) == result else { fatalError("\(result) differs from a second result") }
    switch result {
    case .success(let readings):
        for reading in readings {
            guard Sighting.isMeasurement(rssi: reading.rssi) else { fatalError("\(reading) does not contain an RSSI") }
            guard !reading.receiver.isEmpty, reading.window >= .zero,
                reading.address != nil || reading.beacon != nil || reading.name?.isEmpty == false
            else { fatalError("\(reading) does not name its receiver and its tag") }
            guard reading.channel.map({ (37...39).contains($0) }) != false else {
                fatalError("\(reading) has no channel")
            }
            guard reading.measuredPower.map({ (-168..<0).contains($0) }) != false else {
                fatalError("\(reading) has an impossible power")
            }
        }
    case .failure(let error):
        guard (0...payload.count).contains(error.offset ?? 0), !error.message.isEmpty else {
            fatalError("\(error) does not state its place")
        }
    }
    return 0
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
