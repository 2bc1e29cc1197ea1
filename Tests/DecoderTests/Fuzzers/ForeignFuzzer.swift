// Treats the first byte as a format, and the others as a recording of another program: decoding must not trap, its
// readings must be measurements that a recording can store, and the time must not decrease.
import BeaconScanning
import ForeignRecordings
import IndoorVocabulary
import ScanRecording

func fuzzForeign(_ bytes: [UInt8]) throws(Finding) {
    guard let first = bytes.first else { return }
    let format = ForeignFormat.allCases[Int(first &- UInt8(ascii: "0")) % ForeignFormat.allCases.count]
    var settings = ForeignRecordingSettings()
    settings.map = 1
    settings.mapHeight = 20
    settings.spacing = .milliseconds(20)
    settings.place = { coordinate, _ in (1, MapPoint(x: coordinate.longitude, y: coordinate.latitude)) }
    // The same bytes as a log about one tag.
    if first == UInt8(ascii: "t") { settings.tag = "phone:walker" }
    var decoder = ForeignDecoder(format: first == UInt8(ascii: "t") ? .mqtt : format, settings: settings)
    var lines = RecordDecoder()
    var rest = bytes.dropFirst()
    var latest = Instant(nanoseconds: .min)
    while true {
        switch Result(catching: { () throws(ForeignProblem) in try decoder.next() }) {
        case .success(.end): return
        case .success(.needsMore):
            decoder.fill { bytes in
                bytes += rest.prefix(100)
                rest = rest.dropFirst(100)
            }
        case .success(.entry(let entry)):
            guard let instant = entry.instant, instant >= latest else { throw Finding("\(entry) isn't in order") }
            latest = instant
            guard let line = try? RecordEncoder.line(for: entry), case .entry? = try? lines.decode(line.span) else {
                throw Finding("a recording can't store \(entry)")
            }
        case .failure(let problem):
            let error = ForeignRecordingError(file: "", format: format, field: problem.field, problem: problem.problem)
            guard !error.description.isEmpty else { throw Finding("an error has no description") }
        }
    }
}
