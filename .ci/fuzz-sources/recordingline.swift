// Treats any bytes as a line of a recording: decoding must not trap, and its results must read back equal.
import BeaconScanning
import IndoorVocabulary
import ScanRecording

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRecordingLine(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var decoder = RecordDecoder()
    guard case .entry(let entry)? = try? decoder.decode(bytes.span) else { return 0 }
    guard let line = try? RecordEncoder.line(for: entry), case .entry(entry)? = try? decoder.decode(line.span) else {
        fatalError("\(entry) does not read back equal")
    }
    return 0
}
