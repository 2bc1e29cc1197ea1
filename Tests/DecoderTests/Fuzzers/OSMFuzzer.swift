// Treats the bytes as a file of OpenStreetMap: decoding must not trap, an imported venue must satisfy the rules of a
// packet, and a problem must say what is wrong.
import IndoorVocabulary
import VenueModel
@testable import VenuePackets

func fuzzOSM(_ bytes: [UInt8]) throws(Finding) {
    switch Result(catching: { () throws(OSMError) in try OSMImporter(language: "en").read(bytes, named: "fuzz") }) {
    case .success(let result):
        guard !result.venue.maps.isEmpty, !result.report.identities.isEmpty else { throw Finding("a venue has no map") }
        let document = VenueDocument.tree(result.venue, radioMapPath: nil).lines()
        let (venue, problems) = VenuePacketReader.parse(document)
        guard venue != nil, !problems.contains(where: { $0.severity == .error }) else {
            throw Finding("an imported venue does not satisfy the rules of a packet: \(problems)")
        }
    case .failure(let error):
        // A carriage return ends a line, too.
        let lines = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
        guard !error.problems.isEmpty,
            error.problems.allSatisfy({ !$0.message.isEmpty && (1...lines).contains($0.line ?? 1) })
        else { throw Finding("\(error) does not state its place") }
    }
}
