// Treats any bytes as an HCI event: decoding must not trap, its data must be within the event, and complete
// advertisements must read back equal.
import BeaconScanning
import IndoorVocabulary

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
