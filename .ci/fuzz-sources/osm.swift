// Treats the bytes as a file of OpenStreetMap: decoding must not trap, an imported venue must satisfy the rules of a
// packet, and a problem must say what is wrong.
import IndoorVocabulary
import VenueModel
@testable import VenuePackets

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOSM(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    do throws(OSMError) {
        let result = try OSMImporter(language: "en").read(bytes, named: "fuzz")
        guard !result.venue.maps.isEmpty, !result.report.identities.isEmpty else { fatalError("a venue has no map") }
        let document = VenueDocument.tree(result.venue, radioMapPath: nil).lines()
        let (venue, problems) = VenuePacketReader.parse(document)
        guard venue != nil, !problems.contains(where: { $0.severity == .error }) else {
            fatalError("an imported venue does not satisfy the rules of a packet: \(problems)")
        }
    } catch {
        // A carriage return ends a line, too.
        let lines = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
        guard !error.problems.isEmpty,
            error.problems.allSatisfy({ !$0.message.isEmpty && (1...lines).contains($0.line ?? 1) })
        else { fatalError("\(error) does not state its place") }
    }
    return 0
}
