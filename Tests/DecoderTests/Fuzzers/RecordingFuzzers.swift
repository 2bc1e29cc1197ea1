import BeaconScanning
import ForeignRecordings
import IndoorVocabulary
import ScanRecording

// Treats any bytes as a line of a recording: decoding must not trap, and its results must read back equal.

func fuzzRecordingLine(_ bytes: [UInt8]) throws(Finding) {
    var decoder = RecordDecoder()
    guard case .entry(let entry)? = try? decoder.decode(bytes.span) else { return }
    guard let line = try? RecordEncoder.line(for: entry), case .entry(entry)? = try? decoder.decode(line.span) else {
        throw Finding("\(entry) does not read back equal")
    }
}

// Treats any bytes as a capture: decoding must not trap, each reading must be a measurement, and the time must not
// decrease.

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

// Treats the first byte as a format, and the others as a recording of another program: decoding must not trap, its
// readings must be measurements that a recording can store, and the time must not decrease.

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
    var database: KismetDatabase?
    if format == .kismetDatabase, first != UInt8(ascii: "t") {
        database = try? KismetDatabase(path: "", image: Array(bytes.dropFirst()))
        guard database != nil else { return }
    }
    var lines = RecordDecoder()
    var rest = bytes.dropFirst()
    var latest = Instant(nanoseconds: .min)
    while true {
        switch Result(catching: { () throws(ForeignProblem) in try decoder.next() }) {
        case .success(.end): return
        case .success(.needsMore):
            if let database {
                // A damaged database ends with an error.
                guard (try? decoder.fill(from: database)) != nil else { return }
                continue
            }
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

// Treats any bytes as advertising data: decoding must not trap, and its results must decode equal after encoding.

func fuzzAdvertisement(_ bytes: [UInt8]) throws(Finding) {
    guard case .beacon(var frame)? = try? BeaconFrame.decode(bytes.span) else { return }
    // A frame without a valid power isn't encoded; one of the same beacon with a power is.
    if frame.measuredPower == nil {
        if (try? frame.advertisingData()) != nil { throw Finding("\(frame) without a power was encoded") }
        frame.measuredPower = -59
    }
    guard let data = try? frame.advertisingData(), case .beacon(frame)? = try? BeaconFrame.decode(data.span) else {
        throw Finding("\(frame) does not decode to itself")
    }
}

// Treats any bytes as an HCI event: decoding must not trap, its data must be within the event, and complete
// advertisements must read back equal.

func fuzzEvent(_ event: [UInt8]) throws(Finding) {
    var reports = AdvertisingReportIterator()
    var reassembler = AdvertisingReassembler()
    while let report = try? reports.next(in: event.span) {
        guard report.data.upperBound <= event.count else {
            throw Finding("\(report) does not have its data within the event")
        }
        guard let whole = reassembler.add(report, of: event.span), !whole.isTruncated else { continue }
        try check(whole)
    }
}

private func check(_ whole: AssembledAdvertisement) throws(Finding) {
    var reassembler = AdvertisingReassembler()
    let events = AdvertisingReport.events(address: whole.report.address, rssi: whole.report.rssi, data: whole.data)
    for (index, event) in events.enumerated() {
        var reports = AdvertisingReportIterator()
        guard let report = try? reports.next(in: event.span) else { throw Finding("\(whole) does not decode again") }
        let again = reassembler.add(report, of: event.span)
        guard index < events.count - 1 || again?.data == whole.data else {
            throw Finding("\(whole) does not read back")
        }
    }
}
