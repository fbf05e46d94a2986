"""A chat on a page of Streamlit's, whose answers are streamed."""

import streamlit as st
from common_openai import MODEL
from openai import OpenAI

if "said" not in st.session_state:
    st.session_state.said = []
client = OpenAI()
for one in st.session_state.said:
    st.chat_message(one["role"]).write(one["content"])
if text := st.chat_input("Say"):
    st.session_state.said.append({"role": "user", "content": text})
    st.chat_message("user").write(text)
    stream = client.chat.completions.create(model=MODEL, messages=st.session_state.said, stream=True)
    with st.chat_message("assistant"):
        answer = st.write_stream(stream)
    st.session_state.said.append({"role": "assistant", "content": answer})
