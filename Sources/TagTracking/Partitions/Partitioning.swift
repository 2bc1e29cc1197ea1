import IndoorVocabulary
import TextFormats

/// The assignment of tags and gateways to parts of a fleet.
///
/// All processes of a fleet use the same numbers, because two processes with different numbers could both handle the
/// same tag.
package struct Partitioning: Hashable, Sendable {
    /// The number of partitions of the tags, in 1...1024.
    package var partitions: Int
    /// The number of groups of gateways, in 1...256.
    package var gatewayGroups: Int

    /// The standard numbers: 64 partitions and 16 groups of gateways.
    package init(partitions: Int = 64, gatewayGroups: Int = 16) {
        self.partitions = partitions
        self.gatewayGroups = gatewayGroups
    }

    /// Returns the partition of a tag, in 0..<`partitions`.
    package func partition(of tag: TagKey) -> Int { Self.index(of: tag.description, among: partitions) }

    /// Returns the group of a gateway by the name that it reports, in 0..<`gatewayGroups`.
    package func group(ofGateway name: String) -> Int { Self.index(of: name, among: gatewayGroups) }

    /// Returns the FNV-1a hash of the text modulo a count.
    private static func index(of text: String, among count: Int) -> Int {
        let hash = FNVHash.hash(of: text.utf8)
        // The low bits of FNV-1a depend on few bits of the last bytes: fold the high half into them.
        return Int((hash ^ (hash >> 32)) % UInt64(count))
    }

    /// Returns the text as one token of a subject: other characters than A-Z, a-z, 0-9, `_` and `-` are written as `=`
    /// and two hexadecimal digits for each byte of UTF-8.
    package static func token(_ text: String) -> String {
        EscapedText.escaped(text, mark: UInt8(ascii: "="), plain: "_-")
    }
}
