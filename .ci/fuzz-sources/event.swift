// Treats any bytes as an HCI event: decoding must not trap, its data must be within the event, and complete
// advertisements must read back equal.
import BeaconScanning
import IndoorVocabulary

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEvent(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let event = Array(UnsafeBufferPointer(start: start, count: count))
    var reports = AdvertisingReportIterator()
    var reassembler = AdvertisingReassembler()
    while let report = try? reports.next(in: event.span) {
        guard report.data.upperBound <= count else { fatalError("\(report) does not have its data within the event") }
        guard let whole = reassembler.add(report, of: event.span), !whole.isTruncated else { continue }
        check(whole)
    }
    return 0
}

private func check(_ whole: AssembledAdvertisement) {
    var reassembler = AdvertisingReassembler()
    let events = AdvertisingReport.events(address: whole.report.address, rssi: whole.report.rssi, data: whole.data)
    for (index, event) in events.enumerated() {
        var reports = AdvertisingReportIterator()
        guard let report = try? reports.next(in: event.span) else { fatalError("\(whole) does not decode again") }
        let again = reassembler.add(report, of: event.span)
        guard index < events.count - 1 || again?.data == whole.data else { fatalError("\(whole) does not read back") }
    }
}
