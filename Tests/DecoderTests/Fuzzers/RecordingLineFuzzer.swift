// Treats any bytes as a line of a recording: decoding must not trap, and its results must read back equal.
import BeaconScanning
import IndoorVocabulary
import ScanRecording

func fuzzRecordingLine(_ bytes: [UInt8]) throws(Finding) {
    var decoder = RecordDecoder()
    guard case .entry(let entry)? = try? decoder.decode(bytes.span) else { return }
    guard let line = try? RecordEncoder.line(for: entry), case .entry(entry)? = try? decoder.decode(line.span) else {
        throw Finding("\(entry) does not read back equal")
    }
}
