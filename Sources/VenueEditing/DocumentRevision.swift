import IndoorVocabulary

/// The state of a document: documents with the same bytes have the same revision.
package struct DocumentRevision: Hashable, Sendable {
    private let hash: UInt64
    private let count: Int

    /// Creates the revision of a document's bytes.
    package init(_ document: [UInt8]) {
        hash = document.withUnsafeBufferPointer { FNVHash.hash(of: $0) }
        count = document.count
    }

    /// The entity tag with its quotation marks (RFC 9110, HTTP Semantics, section 8.8.3).
    package var tag: String { "\"\(String(hash, radix: 16))-\(String(count, radix: 16))\"" }
}

/// The condition of a request that replaces a document: the header If-Match (RFC 9110, section 13.1.1).
package enum SaveCondition: Hashable, Sendable {
    /// The request has no condition.
    case none
    /// The document exists, in any revision.
    case exists
    /// The document has one of these entity tags.
    case tags([String])

    /// Reads the content of the header; nil without one.
    package init(header: String?) {
        guard let header else {
            self = .none
            return
        }
        let parts = header.split(separator: ",").map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        self = parts == ["*"] ? .exists : .tags(parts)
    }

    /// Returns the reason for refusing to replace a document; nil if the condition is fulfilled.
    ///
    /// - Parameter current: the revision that the document has now; nil if there is no document.
    package func refusal(current: DocumentRevision?) -> SaveRefusal? {
        switch self {
        case .none: return .unconditional
        case .exists: return current == nil ? .changed : nil
        case .tags(let tags): return current.map { tags.contains($0.tag) } == true ? nil : .changed
        }
    }
}

/// The reason why a document isn't replaced.
package enum SaveRefusal: Hashable, Sendable {
    /// The request doesn't state the revision on which it is based.
    case unconditional
    /// Another program has changed the document since that revision.
    case changed
}
