import Foundation
import Synchronization
import XCTest

/// Tests that share one browser, each with pages of its own.
class BrowserTestCase: XCTestCase {
    private static let shared = Mutex<Browser?>(nil)

    override class func tearDown() {
        shared.withLock { $0.take() }?.end()
        super.tearDown()
    }

    /// The browser of this class, which the first call starts.
    ///
    /// The environment variable `BROWSER_LAUNCHER` can have the words of a command that starts it, such as
    /// `taskset -c 0`.
    func browser() throws -> Browser {
        try Self.shared.withLock { shared in
            let launcher = ProcessInfo.processInfo.environment["BROWSER_LAUNCHER"] ?? ""
            let browser = try shared ?? Browser(launcher: launcher.split(separator: " ").map(String.init))
            shared = browser
            return browser
        }
    }

    /// Opens a page, which is closed after the test.
    ///
    /// - Parameter url: the document; nil for an empty page.
    func page(_ url: String? = nil) throws -> BrowserPage {
        let page = try browser().newPage()
        addTeardownBlock { page.close() }
        if let url { try page.open(url) }
        return page
    }

    /// Opens a page with a document.
    func page(html: String) throws -> BrowserPage {
        try page("data:text/html;charset=utf-8;base64,\(Data(html.utf8).base64EncodedString())")
    }
}
