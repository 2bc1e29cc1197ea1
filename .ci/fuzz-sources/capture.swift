// Treats any bytes as a capture: decoding must not trap, each reading must be a measurement, and the time must not
// decrease.
import BeaconScanning
import IndoorVocabulary
import ScanRecording

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCapture(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    var buffer = BTSnoopBuffer()
    var decoder = BTSnoopDecoder()
    var rest = input[...]
    var latest = Instant.zero
    while let piece = try? buffer.next() {
        switch piece {
        case .header(let datalink): decoder.begin(datalink)
        case .record(let record):
            let bytes = buffer.bytes
            decoder.decode(record, of: bytes.span)
            _ = decoder.consumeProblem()
            while let reading = decoder.next() {
                guard reading.instant >= latest else { fatalError("\(reading) does not read in order") }
                latest = reading.instant
                guard case .advertisement(let heard) = reading else { continue }
                guard Sighting.isMeasurement(rssi: heard.rssi) else { fatalError("\(heard) does not contain an RSSI") }
            }
        case .needsMore:
            buffer.fill { bytes in
                bytes += rest.prefix(100)
                rest = rest.dropFirst(100)
            }
        case .end:
            decoder.finish()
            return 0
        }
    }
    return 0
}
