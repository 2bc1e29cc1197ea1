// Treats any bytes as a capture: decoding must not trap, each reading must be a measurement, and the time must not
// decrease.
import BeaconScanning
import IndoorVocabulary
import ScanRecording

func fuzzCapture(_ input: [UInt8]) throws(Finding) {
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
                guard reading.instant >= latest else { throw Finding("\(reading) does not read in order") }
                latest = reading.instant
                guard case .advertisement(let heard) = reading else { continue }
                guard Sighting.isMeasurement(rssi: heard.rssi) else {
                    throw Finding("\(heard) does not contain an RSSI")
                }
            }
        case .needsMore:
            buffer.fill { bytes in
                bytes += rest.prefix(100)
                rest = rest.dropFirst(100)
            }
        case .end:
            decoder.finish()
            return
        }
    }
}
